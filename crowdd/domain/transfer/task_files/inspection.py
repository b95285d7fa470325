"""What a file holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

import attrs

from crowdd.domain.transfer.task_files.columns import looks_like_data
from crowdd.domain.transfer.task_files.detection import detect
from crowdd.domain.transfer.task_files.dialect import PREPARED, TABLES, Dialect
from crowdd.domain.transfer.task_files.file_row import FileRow, undecodable
from crowdd.domain.transfer.task_files.limits import MAX_COLUMNS
from crowdd.domain.transfer.task_files.prepared_rows import about
from crowdd.domain.transfer.task_files.reading import read_rows
from crowdd.errors import InvalidValueError
from crowdd.languages import _
from crowdd.values import Values

DOUBTS = ("one_column", "no_header", "encoding", "rows_in_cell")
"""What an owner is asked: whether a file with one column has another delimiter; whether the first line, which looks
like data, names the columns; whether the letters are right; whether a cell that looks like several rows is one."""
_CERTAIN = frozenset({"utf-8", "utf-8-sig", "utf-16"})


@attrs.frozen
class Inspected:
    """What a file holds: its columns in order, its first rows, and how many rows it has.

    ``rows`` are good and ``refused`` ones; ``empty`` ones are counted apart. ``doubts`` are some of DOUBTS, which the
    owner should look at before the import. ``sheets`` are those of a workbook: ``name``, ``hidden``, and whether it is
    the one that was read (``chosen``).
    """

    dialect: Dialect
    columns: list[str]
    sample: list[Values]
    rows: int
    refused: int
    empty: int
    doubts: tuple[str, ...] = ()
    sheets: tuple[Values, ...] = ()


class _Sum:
    """What has been seen of a file."""

    def __init__(self, dialect: Dialect, max_shown: int) -> None:
        self._dialect, self._max_shown = dialect, max_shown
        self.columns: dict[str, None] = {}
        self.sample: list[Values] = []
        self.good = self.refused = self.empty = 0
        self.last_error = ""
        self._undecodable = False
        self._grows, self._may_hide_rows = dialect.format not in TABLES, dialect.format == "csv"

    def add(self, row: FileRow) -> None:
        """Counts a row."""
        if row.empty:
            self.empty += 1
        elif row.values is None:
            self.refused += 1
            self.last_error = row.error
            self._undecodable = self._undecodable or row.error == undecodable()
        else:
            self.good += 1
            self._look_at(row.values)

    def _look_at(self, values: Values) -> None:
        if len(self.sample) < self._max_shown:
            self.sample.append(values)
        if self.good == 1 or (
            self._grows and len(self.columns) < MAX_COLUMNS and not values.keys() <= self.columns.keys()
        ):
            self.columns |= dict.fromkeys(islice(values, MAX_COLUMNS))
        if self._may_hide_rows:
            self._may_hide_rows = not _hides_rows(values, self._dialect.delimiter)

    def doubts(self, first: list[str]) -> Iterator[str]:
        """The doubts of a file; ``first`` are the cells of its first line, where it is a table."""
        if self._dialect.format == "csv" and len(self.columns) == 1:
            yield "one_column"
        if self._dialect.header and looks_like_data(first):
            yield "no_header"
        if self._dialect.encoding not in _CERTAIN or self._undecodable:
            yield "encoding"
        if self._dialect.format == "csv" and not self._may_hide_rows:
            yield "rows_in_cell"


def inspect(
    path: Path,
    max_shown: int,
    dialect: Dialect | None = None,
    each: Callable[[FileRow], None] | None = None,
) -> Inspected:
    """Reads a file once from end to end, calling ``each`` with every row. What is no text has been turned into rows.

    Raises InvalidValueError when nothing of it can be used.
    """
    dialect = dialect or detect(path)
    seen = _Sum(dialect, max_shown)
    with path.open("rb") as file:
        for row in read_rows(dialect, file):
            seen.add(row)
            if each is not None:
                each(row)
    if not seen.good + seen.refused:
        raise InvalidValueError(_("The file has no rows."))
    if not seen.good:
        raise InvalidValueError(_("No row of the file can be used. The last one: %(reason)s", reason=seen.last_error))
    columns = list(seen.columns)[:MAX_COLUMNS]
    rows, doubts = seen.good + seen.refused, tuple(seen.doubts(_first_cells(path, dialect)))
    description = about(path) if dialect.format in PREPARED else {}
    read = attrs.evolve(dialect, sheet=description.get("sheet", ""))
    sheets = tuple({**sheet, "chosen": sheet["name"] == read.sheet} for sheet in description.get("sheets", ()))
    return Inspected(read, columns, seen.sample, rows, seen.refused, seen.empty, doubts, sheets)


def _first_cells(path: Path, dialect: Dialect) -> list[str]:
    """The cells of the first line, which may name the columns."""
    if dialect.format not in TABLES:
        return ["name"]
    with path.open("rb") as file:
        first = next(read_rows(attrs.evolve(dialect, header=False, names={}), file), None)
    return [str(value) for value in (first.values or {}).values()] if first else []


def _hides_rows(values: Mapping[str, str], delimiter: str) -> bool:
    """Whether a cell has the delimiters of as many rows as lines: a stray quotation mark may have joined them."""
    for value in values.values():
        breaks = value.count("\n")
        if breaks and len(values) > 1 and value.count(delimiter) == breaks * (len(values) - 1):
            return True
    return False
