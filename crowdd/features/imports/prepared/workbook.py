"""A sheet of a workbook (XLSX, ODS) as rows. Formulas give the values that the workbook has stored for them; links to
other files are not followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdd.features.imports.files.text import MAX_COLUMNS
from crowdd.features.imports.prepared.rows_file import RowsFile, iso_duration
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.lazy import lazy

if TYPE_CHECKING:
    import python_calamine
else:
    python_calamine = lazy("python_calamine")

MAX_SHEETS = 200
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
    first = 1 + (rows.start[0] if rows.start else 0)
    out = RowsFile(target, {**about, "sheets": sheets, "sheet": sheet_name, "first": first, "width": width})
    for cells in _cells(rows):
        if any(isinstance(cell, int | float) and abs(cell) >= _ROUNDED for cell in cells):
            out.refuse(_rounded())
        else:
            out.add(cells)
    out.close()


def _unreadable() -> str:
    return _("The workbook cannot be read. Save its table as CSV (UTF-8) and import that.")


def _rounded() -> str:
    return _(
        "It has a number of more than 15 digits, which workbooks round. Format its column as text and enter it again."
    )


def _sheets(workbook: Any) -> list[dict[str, Any]]:
    """The sheets with cells: ``name``, and whether one is ``hidden``."""
    visible, cells = python_calamine.SheetVisibleEnum.Visible, python_calamine.SheetTypeEnum.WorkSheet
    sheets = [
        {"name": each.name, "hidden": each.visible != visible} for each in workbook.sheets_metadata if each.typ == cells
    ]
    if not sheets:
        raise InvalidValueError(_("The workbook has no sheet with cells."))
    return sheets[:MAX_SHEETS]


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
    for candidate in [name] if name else shown:
        rows = _read(workbook, candidate)
        if rows.height:
            return candidate, rows
    raise InvalidValueError(_("The sheet %(name)s is empty.", name=(name or shown[0])[:100]))


def _read(workbook: Any, name: str) -> Any:
    try:
        return workbook.get_sheet_by_name(name)
    except python_calamine.CalamineError:
        raise InvalidValueError(_unreadable()) from None


def _width(rows: object) -> int:
    """How many cells the longest row has."""
    return max((len(cells) for cells in _cells(rows)), default=0)


def _cells(rows: Any) -> Iterator[list[Any]]:
    """The rows from the first with content on, each up to its last cell with content."""
    for row in islice(rows.iter_rows(), rows.start[0] if rows.start else 0, None):
        end = len(row)
        while end and (row[end - 1] == "" or (isinstance(row[end - 1], str) and not row[end - 1].strip())):
            end -= 1
        yield [_value(cell) for cell in row[:end]]


def _value(cell: object) -> Any:
    """A cell as JSON: whole numbers without a point, dates and times in ISO 8601."""
    if isinstance(cell, float):
        return int(cell) if cell.is_integer() else cell
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return iso_duration(cell)
    return cell
