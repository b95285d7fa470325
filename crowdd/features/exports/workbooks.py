"""Workbooks (XLSX) that leave while their rows are read: PostgreSQL makes the rows, XlsxWriter what is around them.

A workbook is a zip archive. The sheets with rows come first in it, in the order of the workbook, each as soon as its
rows are there; a sheet that is full goes on in a further one. Behind them are the small sheets, about the questions and
the columns, and the parts that name all sheets. So nothing of the rows is in memory or waits on the disk.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import IO, Final
from xml.sax.saxutils import escape

import attrs

from crowdd.core.text.words import column_letters
from crowdd.features.exports.column_statements import Column
from crowdd.features.exports.output import Output
from crowdd.features.exports.sheet_statements import HEADING
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.lazy import lazy

xlsxwriter = lazy("xlsxwriter", seldom=True, extra="workbooks")

MAGIC: Final = b"PK\x03\x04"
"""What a workbook begins with."""
MAX_ROWS: Final = 1_048_575
"""Rows of a sheet below its heading (Excel: 1,048,576 with it)."""
_MAX_NAME: Final = 31  # characters
_MAX_SHEET_BYTES: Final = 2_000_000_000  # more needs forms of zip that Excel repairs
_LEVEL: Final = 3  # of compression: the time of a file is that of its compression
_WIDTH, _WIDE = 14, 40
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
# In the order of the numbers in ``sheet_statements``.
_STYLES: Final[Sequence[Mapping[str, object]]] = (
    {"bold": True, "bottom": 1},
    {"num_format": "yyyy-mm-dd"},
    {"num_format": "yyyy-mm-dd hh:mm:ss"},
    {"font_color": "#0B3F63", "underline": 1},
)
_DATE: Final = (1980, 1, 1, 0, 0, 0)


@attrs.frozen
class SmallSheet:
    """A sheet whose cells are all known: its name, and rows of texts of which the first one is the heading."""

    name: str
    rows: Sequence[Sequence[str]]


class Workbook:
    """A workbook that is written piece by piece. Its functions are called in a thread, one at a time."""

    def __init__(self, max_rows: int = MAX_ROWS) -> None:
        self._out = Output()
        self._archive = zipfile.ZipFile(self._out, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)
        self._max_rows = max_rows
        self._names: list[str] = []
        self._name, self._columns = "", list[Column]()
        self._part: IO[bytes] | None = None
        self._end = b""
        self._rows = self._bytes = 0

    def begin_sheet(self, name: str, columns: Sequence[Column]) -> bytes:
        """Begins the next sheet, with a heading; what can be written now."""
        self._name, self._columns, self._nth = name, list(columns), 1
        self._open(name)
        return self._out.taken()

    def add(self, lines: bytes, rows: int) -> bytes:
        """Takes further rows, a line each (``Table.as_sheet``); what can be written now."""
        if self._rows + rows > self._max_rows:
            free = self._max_rows - self._rows
            every = lines.split(b"\n")
            self._write(b"".join(every[:free]))
            self._nth += 1
            self._open(f"{self._name[: _MAX_NAME - 5]} {self._nth}")
            return self.add(b"\n".join(every[free:]), rows - free)
        self._rows += rows
        self._write(lines)
        return self._out.taken()

    def end(self, small: Sequence[SmallSheet]) -> bytes:
        """Writes the small sheets and what names all; the last bytes."""
        self._close()
        frame = zipfile.ZipFile(_frame(self._names, small))
        written = {_part_of(nth) for nth in range(1, len(self._names) + 1)}
        for name in frame.namelist():
            if name not in written:
                self._archive.writestr(_entry(name), frame.read(name), compresslevel=_LEVEL)
        self._archive.close()
        return self._out.taken()

    def _open(self, name: str) -> None:
        self._close()
        self._names.append(name)
        nth = len(self._names)
        # The first sheet of a workbook is the one that is chosen.
        frame = zipfile.ZipFile(_frame(self._names[:1] if nth == 1 else [self._names[0], name], (), self._columns))
        begin, _begins, rest = frame.read(_part_of(min(nth, 2))).partition(b"<sheetData>")
        self._end, self._rows, self._bytes = b"</sheetData>" + rest.rpartition(b"</sheetData>")[2], 0, 0
        # By its name: the level of the archive is not that of an entry of one's own. Its date is _DATE, too.
        self._part = self._archive.open(_part_of(nth), "w")
        self._write(begin + b"<sheetData>" + _heading(self._columns))

    def _write(self, content: bytes) -> None:
        assert self._part is not None
        self._bytes += len(content)
        if self._bytes > _MAX_SHEET_BYTES:
            raise InvalidValueError(_("A sheet is larger than 2 GB, which Excel cannot read. Download CSV instead."))
        self._part.write(content)

    def _close(self) -> None:
        if self._part is not None:
            self._part.write(self._end)
            self._part.close()


def _part_of(nth: int) -> str:
    return f"xl/worksheets/sheet{nth}.xml"


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _heading(columns: Sequence[Column]) -> bytes:
    """The first row, with the headings of the columns."""
    style = f's="{HEADING}" t="inlineStr"'
    cells = (
        f'<c r="{column_letters(nth)}1" {style}><is><t xml:space="preserve">{_escaped(column.heading)}</t></is></c>'
        for nth, column in enumerate(columns)
    )
    return f'<row r="1">{"".join(cells)}</row>'.encode()


def _escaped(name: str) -> str:
    """A name without what XML cannot have."""
    return escape(_CONTROLS.sub(lambda sign: f"_x{ord(sign[0]):04X}_", name))


def require_xlsxwriter() -> None:
    """Passes where xlsxwriter is installed. Raises InvalidValueError. The first call imports it: for a thread."""
    xlsxwriter.Workbook  # noqa: B018


def _frame(names: Sequence[str], small: Sequence[SmallSheet], columns: Sequence[Column] = ()) -> io.BytesIO:
    """A workbook with sheets of these names that have no rows, and the small ones behind them."""
    content = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    book = xlsxwriter.Workbook(content, options)
    book.set_properties({"created": datetime(*_DATE, tzinfo=UTC)})  # a file of the same rows is the same file
    styles = [book.add_format(style) for style in _STYLES]
    for name in names:
        sheet = book.add_worksheet(name)
        sheet.freeze_panes(1, 0)
        for nth, style in enumerate(styles):  # a style has its number by where it is first used
            sheet.write_blank(0, nth, None, style)
        for nth, column in enumerate(columns):
            sheet.set_column(nth, nth, _WIDE if column.type in ("text", "json") else _WIDTH)
    for each in small:
        sheet = book.add_worksheet(each.name)
        sheet.freeze_panes(1, 0)
        sheet.set_column(0, 2, _WIDE)
        for nth, row in enumerate(each.rows):
            sheet.write_row(nth, 0, row, styles[HEADING - 1] if nth == 0 else None)
    book.close()
    content.seek(0)
    return content
