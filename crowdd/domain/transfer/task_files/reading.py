"""The rows of a file in any of the formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from crowdd.domain.transfer.task_files.csv_rows import CsvRows
from crowdd.domain.transfer.task_files.decoding import decoded, line_blocks
from crowdd.domain.transfer.task_files.dialect import PREPARED, Dialect
from crowdd.domain.transfer.task_files.file_row import FileRow
from crowdd.domain.transfer.task_files.json_rows import JsonRows
from crowdd.domain.transfer.task_files.ndjson_rows import ndjson_rows
from crowdd.domain.transfer.task_files.prepared_rows import prepared_rows


def read_rows(dialect: Dialect, file: BinaryIO) -> Iterator[FileRow]:
    """The rows of a file that is at its beginning. Whatever is in it, nothing raises: damage is in refused rows.

    What a file holds is in one of them each, in an empty row, in the line that names the columns, or before it. A file
    that is no text has been turned into rows before (``transfer.prepared``).
    """
    if dialect.format in PREPARED:
        return prepared_rows(file, header=dialect.header)
    texts = decoded(file, dialect.encoding)
    if dialect.format == "json":
        return JsonRows(texts).rows()
    if dialect.format == "ndjson":
        return ndjson_rows(line_blocks(texts))
    return CsvRows(dialect, line_blocks(texts)).rows()
