"""The rows of a file that was turned into rows before (``transfer.prepared``): an array of cells or an object a line.

The first line is about the file. ``first`` is the number of the first row as people see it, ``width`` how many
cells the rows of a table have at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from crowdd import exact_json
from crowdd.domain.transfer.task_files.columns import column_names
from crowdd.domain.transfer.task_files.file_row import FileRow, refused

_REFUSED = b"!"


def about(path: Path) -> Mapping[str, Any]:
    """What the first line of a file of rows says."""
    with path.open("rb") as file:
        description: Mapping[str, Any] = orjson.loads(file.readline())
    return description


def prepared_rows(file: BinaryIO, *, header: bool) -> Iterator[FileRow]:
    """All rows, in order. In a table the first row that is not empty names the columns if there is a ``header``."""
    description = orjson.loads(file.readline())
    first, width = int(description.get("first", 1)), int(description.get("width", 0))
    names = [] if header else column_names([""] * width)
    for number, line in enumerate(file, first):
        if line.startswith(_REFUSED):
            reason = orjson.loads(line[1:])
            yield refused(number, reason[""], reason["text"])
            continue
        row = exact_json.stored(line)
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
