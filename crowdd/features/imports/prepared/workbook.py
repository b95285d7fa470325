"""A sheet of a workbook (XLSX, ODS) as rows. Formulas give the values that the workbook has stored for them; links to
other files are not followed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdd.core.text.words import column_letters
from crowdd.features.imports.files.tables import header_line
from crowdd.features.imports.files.text import MAX_COLUMNS
from crowdd.features.imports.prepared import raw_cells
from crowdd.features.imports.prepared.raw_cells import Raw, RawCell
from crowdd.features.imports.prepared.rows_file import RowsFile, iso_duration
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.lazy import lazy

if TYPE_CHECKING:
    import python_calamine
else:
    python_calamine = lazy("python_calamine", extra="workbooks")

MAX_SHEETS = 200
_TABLE = 3  # rows that a table has at least, unless there is no longer sheet
_LOOKED_AT = 50  # rows among which the one with the names is
_ROUNDED = 2**53  # numbers of workbooks are doubles: from here on, one may stand for several whole numbers


def convert(source: Path, target: Path, about: dict[str, object], sheet: str) -> None:
    """Writes the rows of a sheet: the one of this name, or the first visible one that has any.

    Raises InvalidValueError for a workbook that cannot be read or has no such sheet.
    """
    try:
        workbook = python_calamine.CalamineWorkbook.from_path(str(source))
    except python_calamine.PasswordError:
        raise InvalidValueError(_("The workbook has a password. Save it without one.")) from None
    except python_calamine.CalamineError:
        raise InvalidValueError(_unreadable()) from None
    sheets = _sheets(workbook)
    sheet_name, rows = _sheet(workbook, sheets, sheet)
    width = _width(rows)
    if width > MAX_COLUMNS:
        raise InvalidValueError(_("The file has more than %(maximum)s columns.", maximum=MAX_COLUMNS))
    top = rows.start[0] if rows.start else 0
    about = {**about, "sheets": sheets, "sheet": sheet_name, "first": 1 + top, "width": width}
    out = RowsFile(target, {**about, "line": header_line(map(_texts, islice(_cells(rows), _LOOKED_AT)), 1 + top)})
    raw = raw_cells.read(source, sheet_name) if about["format"] == "xlsx" else {}
    days = _days(_cells(rows), raw, top)
    for number, cells in enumerate(_cells(rows), top):
        raw_row = raw.get(number, {})
        if fault := _fault(number, cells, raw_row, days):
            out.refuse(fault)
        else:
            out.add([_value(_as_day(cell, raw_row.get(nth))) for nth, cell in enumerate(cells)])
    out.close()


def _fault(number: int, cells: Sequence[object], raw_row: Mapping[int, RawCell], days: frozenset[int]) -> str:
    """Why a row cannot be used, or ""."""
    faults = (each.fault(_at(nth, number)) for nth, each in raw_row.items())
    if fault := next(filter(None, faults), ""):
        return fault
    for nth, cell in enumerate(cells):
        if isinstance(cell, int | float) and abs(cell) >= _ROUNDED:
            return _rounded()
        if nth in days and isinstance(_as_day(cell, raw_row.get(nth)), time):
            return _("The cell %(cell)s has a time of day. The others of its column have dates.", cell=_at(nth, number))
    return ""


def _at(nth: int, number: int) -> str:
    return f"{column_letters(nth)}{number + 1}"


def _as_day(cell: object, raw_cell: RawCell | None) -> object:
    """A cell as calamine tells it, but a day before 1900 as what it is."""
    return raw_cell.day() if raw_cell is not None and raw_cell.number < 0 and isinstance(cell, time | date) else cell


def _days(rows: Iterable[Sequence[object]], raw: Raw, top: int) -> frozenset[int]:
    """The columns in which more cells have a date than a time of day."""
    counts: Counter[int] = Counter()
    for number, cells in enumerate(rows, top):
        for nth, cell in enumerate(cells):
            if isinstance(cell, time):
                counts[nth] += 1 if raw.get(number, {}).get(nth, RawCell()).number < 0 else -1
            elif isinstance(cell, date):
                counts[nth] += 1
    return frozenset(nth for nth, count in counts.items() if count > 0)


def _unreadable() -> str:
    return _("The workbook cannot be read. Save its table as CSV (UTF-8) and import that.")


def _rounded() -> str:
    return _(
        "It has a number of more than 15 digits, which workbooks round. Format its column as text and enter it again."
    )


def _sheets(workbook: Any) -> list[dict[str, Any]]:
    """The sheets with cells: ``name``, whether one is ``hidden``, and its ``rows`` from the first to the last used."""
    visible, cells = python_calamine.SheetVisibleEnum.Visible, python_calamine.SheetTypeEnum.WorkSheet
    sheets = [
        {"name": each.name, "hidden": each.visible != visible, "rows": _read(workbook, each.name).height}
        for each in islice((each for each in workbook.sheets_metadata if each.typ == cells), MAX_SHEETS)
    ]
    if not sheets:
        raise InvalidValueError(_("The workbook has no sheet with cells."))
    return sheets


def _sheet(workbook: Any, sheets: Sequence[dict[str, Any]], name: str) -> tuple[str, Any]:
    names = [each["name"] for each in sheets]
    if name and name not in names:
        words = _(
            "The workbook has no sheet %(name)s. Its sheets: %(names)s.",
            name=name[:100],
            names=", ".join(each[:50] for each in names[:20]),
        )
        raise InvalidValueError(words)
    shown = [each["name"] for each in sheets if not each["hidden"]] or names
    heights = {each["name"]: each["rows"] for each in sheets}
    # A cover with a line or two comes before the table in many workbooks.
    for fewest in (_TABLE, 1):
        for candidate in [name] if name else shown:
            if heights[candidate] >= fewest:
                return candidate, _read(workbook, candidate)
    raise InvalidValueError(_("The sheet %(name)s is empty.", name=(name or shown[0])[:100]))


def _read(workbook: Any, name: str) -> Any:
    try:
        return workbook.get_sheet_by_name(name)
    except python_calamine.CalamineError:
        raise InvalidValueError(_unreadable()) from None


def _texts(cells: Sequence[object]) -> list[str]:
    return [str(cell) for cell in cells]


def _width(rows: object) -> int:
    """How many cells the longest row has."""
    return max((len(cells) for cells in _cells(rows)), default=0)


def _cells(rows: Any) -> Iterator[list[Any]]:
    """The rows from the first with content on, each up to its last cell with content."""
    for row in islice(rows.iter_rows(), rows.start[0] if rows.start else 0, None):
        end = len(row)
        while end and (row[end - 1] == "" or (isinstance(row[end - 1], str) and not row[end - 1].strip())):
            end -= 1
        yield row[:end]


def _value(cell: object) -> Any:
    """A cell as JSON: whole numbers without a point, dates and times in ISO 8601."""
    if isinstance(cell, float):
        return int(cell) if cell.is_integer() else float(f"{cell:.15g}")  # as it was typed: they have 15 digits
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return iso_duration(cell)
    return cell
