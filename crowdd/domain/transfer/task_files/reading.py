"""The rows of a file in any of the formats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import BinaryIO

from crowdd.domain.transfer.task_files.csv_rows import CsvRows
from crowdd.domain.transfer.task_files.decoding import decoded, line_blocks
from crowdd.domain.transfer.task_files.dialect import PREPARED, Dialect
from crowdd.domain.transfer.task_files.file_row import FileRow, refused
from crowdd.domain.transfer.task_files.json_rows import JsonRows
from crowdd.domain.transfer.task_files.ndjson_rows import ndjson_rows
from crowdd.domain.transfer.task_files.prepared_rows import prepared_rows
from crowdd.languages import _


def read_rows(dialect: Dialect, file: BinaryIO) -> Iterator[FileRow]:
    """The rows of a file that is at its beginning. Whatever is in it, nothing raises: damage is in refused rows.

    What a file holds is in one of them each, in an empty row, in the line that names the columns, or before it. A file
    that is no text has been turned into rows before (``transfer.prepared``).
    """
    rows = _rows(dialect, file)
    return (_renamed(row, dialect.names) for row in rows) if dialect.names else rows


def _rows(dialect: Dialect, file: BinaryIO) -> Iterator[FileRow]:
    if dialect.format in PREPARED:
        return prepared_rows(file, header=dialect.header)
    texts = decoded(file, dialect.encoding)
    if dialect.format == "json":
        return JsonRows(texts).rows()
    if dialect.format == "ndjson":
        return ndjson_rows(line_blocks(texts))
    return CsvRows(dialect, line_blocks(texts)).rows()


def _renamed(row: FileRow, names: Mapping[str, str]) -> FileRow:
    """The row with other names of its columns; refused where a column of that name is there already."""
    if row.values is None:
        return row
    values = {names.get(name, name): value for name, value in row.values.items()}
    if len(values) < len(row.values):
        twice = next(name for name in names.values() if name in row.values)
        return refused(row.number, _("The file already has a column %(name)s.", name=twice[:100]))
    return row._replace(values=values)
