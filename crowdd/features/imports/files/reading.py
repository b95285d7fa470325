"""Read the rows of a file in any of the formats, also of one that was turned into rows before.

A file of prepared rows (``imports.prepared``) has an array of cells or an object in each line, and its first line is
about the file: ``first`` is the number of the first row as people see it, ``width`` how many cells the rows of a table
have at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from crowdd.features.imports.files.decimal_commas import with_numbers
from crowdd.features.imports.files.dialect import PREPARED, Dialect
from crowdd.features.imports.files.json_rows import JsonRows, ndjson_rows
from crowdd.features.imports.files.rows import FileRow, refused
from crowdd.features.imports.files.tables import CsvRows, column_names
from crowdd.features.imports.files.text import decode_pieces, line_blocks
from crowdd.kernel import exact_json
from crowdd.kernel.languages import _

_REFUSED = b"!"


def read_about(path: Path) -> Mapping[str, Any]:
    """What the first line of a file of rows says."""
    with path.open("rb") as file:
        description: Mapping[str, Any] = orjson.loads(file.readline())
    return description


def prepared_rows(file: BinaryIO, *, header: bool, line: int = 0) -> Iterator[FileRow]:
    """All rows, in order. In a table the first row that is not empty names the columns if there is a ``header``.

    Rows above the ``line`` that names them are passed over; 0: as it was found out when the table was prepared.
    """
    description = orjson.loads(file.readline())
    first, width = int(description.get("first", 1)), int(description.get("width", 0))
    names = [] if header else column_names([""] * width)
    named = (line or int(description.get("line", 0))) if header else 0
    for number, text in enumerate(file, first):
        if number < named:
            yield FileRow(number, empty=True)
            continue
        if text.startswith(_REFUSED):
            reason = orjson.loads(text[1:])
            yield refused(number, reason[""], reason["text"])
            continue
        row = exact_json.stored(text)
        if isinstance(row, dict):
            yield FileRow(number, row)
        elif not row:
            yield FileRow(number, empty=True)
        elif not names:
            names = column_names([_name(cell) for cell in row] + [""] * (width - len(row)))
        else:
            yield FileRow(number, dict(zip(names, row + [""] * (width - len(row)), strict=True)))


def _name(cell: object) -> str:
    return "" if cell is None else cell if isinstance(cell, str) else str(cell)


def read_rows(dialect: Dialect, file: BinaryIO) -> Iterator[FileRow]:
    """The rows of a file that is at its beginning. Whatever is in it, nothing raises: damage is in refused rows.

    What a file holds is in one of them each, in an empty row, in the line that names the columns, or before it. A file
    that is no text has been turned into rows before (``imports.prepared``).
    """
    rows = _rows(dialect, file)
    if dialect.names:
        rows = (_renamed(row, dialect.names) for row in rows)
    numbers = [name for name, wanted in dialect.commas.items() if wanted]
    return (with_numbers(row, numbers) for row in rows) if numbers else rows


def _rows(dialect: Dialect, file: BinaryIO) -> Iterator[FileRow]:
    if dialect.format in PREPARED:
        return prepared_rows(file, header=dialect.header, line=dialect.line)
    texts = decode_pieces(file, dialect.encoding)
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
