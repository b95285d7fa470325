"""The rows of a CSV table: its delimiter, the names of its columns, and its rows, damaged ones refused one by one.

Python's ``csv``, made strict, finds the cells of sound rows, many at a time. Where it fails, rows are looked at one by
one: a row whose quoted cell does not end within the limits of a row, or ends where no cell can end, is refused
alone, and the line below it is tried as the beginning of the next row. So each line is in exactly one row.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import attrs

from crowdd.features.imports.files.dialect import DELIMITERS, Dialect
from crowdd.features.imports.files.rows import FileRow, mark_of, readable, refused, too_long
from crowdd.features.imports.files.text import LONG_LINE, MAX_COLUMNS, MAX_ROW_BYTES, MAX_ROW_LINES, Credit, size_of
from crowdd.kernel.languages import _

_DATA = re.compile(
    r"[+-]?(?=[.,]*+\d)[\d.,]++(?:e[+-]?\d++)?%?"  # a number
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ][\d:.]+\S*)?"  # a date
    r"|(?:https?|ftp)://\S+|www\.\S+|[^\s@]++@(?:[^\s@.]++\.)++\w++"  # an address
    r"|\S+\.(?:jpe?g|png|gif|tiff?|webp|svg|mp3|mp4|wav|pdf)",  # the name of a file
    re.IGNORECASE,
)

_BLANK = " \t\r\n\u00a0\ufeff"


def column_names(cells: Sequence[str]) -> list[str]:
    """The names in the first line. An empty one becomes column_3, a second ``title`` becomes title_2."""
    names: list[str] = []
    taken = {readable(cell).strip(_BLANK) for cell in cells}
    for number, cell in enumerate(cells, 1):
        name = readable(cell).strip(_BLANK) or f"column_{number}"
        names.append(_unused(name, taken) if name in names else name)
    return names


def _unused(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    taken.add(f"{name}_{number}")
    return f"{name}_{number}"


def looks_like_data(cells: Sequence[str]) -> bool:
    """Whether a first line holds numbers, dates, addresses or one text twice, or is empty in more than a third."""
    texts = [cell.strip() for cell in cells]
    filled = [text for text in texts if text]
    return 3 * len(filled) < 2 * len(texts) or len({*filled}) < len(filled) or any(map(_DATA.fullmatch, filled))


def header_line(rows: Iterable[Sequence[str]], first: int = 1) -> int:
    """The number of the line that names the columns, of a table whose lines begin with number ``first``.

    Lines above it have at most half as many cells with text as most lines: titles, who made the table, when. There are
    none where the line that would name the columns looks like data.
    """
    lines = [[cell for cell in row if cell.strip()] for row in rows]
    counts = Counter(len(cells) for cells in lines if cells)
    usual = max(counts, key=lambda n: (counts[n], n), default=0)
    for number, cells in enumerate(lines, first):
        if cells and 2 * len(cells) > usual:
            return first if looks_like_data(cells) else number
    return first


def widths(lines: Iterable[str], delimiter: str) -> list[int]:
    """How many cells each line has, taken by itself; lines without any text are left out."""
    return [len(cells) for line in lines for cells in csv.reader([line], delimiter=delimiter) if any(cells)]


def most_common_width(lines: Iterable[str], delimiter: str) -> int:
    """How many cells most lines have, at least one."""
    return max(Counter(widths(lines, delimiter)).most_common(1), default=(1, 0))[0]


DELIMITER_LINE = re.compile(r'"?sep=(.)"?[\r\n]*', re.IGNORECASE)
_MISPLACED = "expected after"  # how csv says that text follows a closing quotation mark


@attrs.frozen
class _Extent:
    """How far the row at the head of the window goes: its lines, its cells, or the ``fault`` that ends it."""

    lines: int
    cells: list[str]
    fault: str = ""


class _RowTooLongError(Exception):
    """The limits of a row were reached within a quoted cell."""


class CsvRows:
    """Reads a table from blocks of lines. ``_window`` holds those that are in no row yet, from ``_at`` on."""

    def __init__(self, dialect: Dialect, blocks: Iterator[list[str]]) -> None:
        self._dialect, self._blocks = dialect, blocks
        self._window: list[str] = []
        self._at = 0
        self._number = 0  # of the line above the next one
        self._marked = False  # whether a line of the window may have a mark
        self._damage_end = 0  # the last line at which damage was noticed
        self._noticed: set[int] = set()  # all of these lines that are not read yet
        self._credit = Credit()
        self._names: list[str] = []
        delimiter = re.escape(dialect.delimiter)
        self._sound_line = re.compile(
            rf'(?:(?:"(?:[^"]++|"")*+"|[^"{delimiter}\r\n]*+)(?:{delimiter}|(?=[\r\n])|\Z))*+[\r\n]*+'
        )

    def rows(self) -> Iterator[FileRow]:
        """All rows, in order."""
        yield from self._above_header()
        fault = self._read_header()
        if fault:
            yield from self._refuse_all(fault)
            return
        while self._has_line():
            if self._number >= self._damage_end and not self._credit.exhausted:
                self._noticed.clear()
                yield from self._sound_rows()
            if self._at < len(self._window):
                yield self._next_row()

    # Header --------------------------------------------------------------------------------------------------------

    def _above_header(self) -> Iterator[FileRow]:
        """Passes over a line that names the delimiter; yields the rows above the line with the names as empty ones."""
        if self._has_line() and DELIMITER_LINE.fullmatch(self._line()):
            self._drop(1)
        blank = f" \t\r\n{self._dialect.delimiter}"
        line = self._dialect.line if self._dialect.header else 0
        while self._has_line() and (self._number + 1 < line or not self._line().strip(blank)):
            yield FileRow(self._number + 1, empty=True)
            self._drop(1)

    def _read_header(self) -> str:
        """Finds the names of the columns. Returns why the table cannot be read, or ""."""
        if not self._has_line():
            return ""
        if not self._dialect.header:
            return self._name([""] * most_common_width(self._lines(100), self._dialect.delimiter))
        extent = self._extent()
        fault = extent.fault or (too_long() if LONG_LINE in "".join(extent.cells) else "")
        if fault:
            return _("The first line, which names the columns, cannot be read. %(reason)s", reason=fault)
        self._drop(extent.lines)
        return self._name(extent.cells)

    def _name(self, cells: list[str]) -> str:
        if len(cells) > MAX_COLUMNS:
            return _("The file has more than %(maximum)s columns.", maximum=MAX_COLUMNS)
        self._names = column_names(cells)
        return ""

    def _refuse_all(self, fault: str) -> Iterator[FileRow]:
        while self._has_line():
            yield refused(self._number + 1, fault, self._line())
            self._drop(1)

    # Rows that are sound --------------------------------------------------------------------------------------------

    def _sound_rows(self) -> Iterator[FileRow]:
        """The rows at the head of the window, up to one that has to be looked at more closely."""
        del self._window[: self._at]
        self._at = 0
        window, base, names, marked = self._window, self._number, self._names, self._marked
        width, begun = len(names), 0
        table = csv.reader(window, delimiter=self._dialect.delimiter, strict=True)
        try:
            for cells in table:
                end = table.line_num
                if end - begun > 1 and not self._is_sound(begun, end, cells):
                    break
                if len(cells) == width and not marked and any(map(str.strip, cells)):
                    yield FileRow(base + begun + 1, dict(zip(names, cells, strict=True)))
                else:
                    yield self._judged(base + begun + 1, cells, window[begun])
                begun = end
        except csv.Error:
            self._credit.spend(sum(map(len, window[begun : table.line_num])))
        self._drop(begun)

    def _is_sound(self, begun: int, end: int, cells: list[str]) -> bool:
        """Whether a row of several lines may be one."""
        size = sum(map(size_of, self._window[begun:end]))
        return len(cells) == len(self._names) and end - begun <= MAX_ROW_LINES and size <= MAX_ROW_BYTES

    def _judged(self, number: int, cells: list[str], line: str) -> FileRow:
        """The row of these cells, which begins with this line."""
        whole = "".join(cells)
        if flaw := mark_of(whole):
            return refused(number, flaw, line)
        if not whole.strip():
            return FileRow(number, empty=True)
        if len(cells) != len(self._names):
            return refused(number, self._wrong_width(len(cells)), line)
        return FileRow(number, dict(zip(self._names, cells, strict=True)))

    def _wrong_width(self, cells: int) -> str:
        columns = len(self._names)
        if self._dialect.header:
            return _("It has %(cells)s cells, but the first line has %(columns)s.", cells=cells, columns=columns)
        return _("It has %(cells)s cells, but most lines have %(columns)s.", cells=cells, columns=columns)

    # Rows that need a closer look -----------------------------------------------------------------------------------

    def _next_row(self) -> FileRow:
        """The row at the head of the window, which may be damaged."""
        extent, line, number = self._extent(), self._line(), self._number + 1
        if number in self._noticed and not self._sound_line.fullmatch(line):
            words = _("This row is damaged, or is the end of a damaged row above it: a cell contains a quotation mark.")
            return self._refuse_line(number, words, line)
        if not extent.fault and extent.lines > 1 and self._hides_rows(extent):
            words = _(
                "A quotation mark in this row joins it with rows below it. Check whether one is missing or one too"
                " many."
            )
            extent = attrs.evolve(extent, fault=words)
        if extent.fault:
            self._noticed.add(self._number + extent.lines)
            self._damage_end = max(self._damage_end, self._number + extent.lines)
            self._credit.spend(sum(map(len, self._lines(extent.lines))))
            return self._refuse_line(number, extent.fault, line)
        self._drop(extent.lines)
        return self._judged(number, extent.cells, line)

    def _refuse_line(self, number: int, words: str, line: str) -> FileRow:
        self._drop(1)
        return refused(number, words, line)

    def _extent(self) -> _Extent:
        """How far the row at the head of the window goes; reads on where the window ends within it."""
        table = csv.reader(self._lines_of_row(), delimiter=self._dialect.delimiter, strict=True)
        try:
            cells = next(table)
        except _RowTooLongError:
            words = _(
                "The quoted cell that begins here is not closed within the limit of a row"
                " (%(bytes)s bytes, %(lines)s lines).",
                bytes=f"{MAX_ROW_BYTES:,}",
                lines=f"{MAX_ROW_LINES:,}",
            )
        except csv.Error as error:
            words = (
                _("Text follows the quotation mark that closes a cell. Check whether one is missing or one too many.")
                if _MISPLACED in str(error)
                else _("The quoted cell that begins here is never closed.")
            )
        else:
            return _Extent(table.line_num, cells)
        return _Extent(table.line_num, [], words)

    def _lines_of_row(self) -> Iterator[str]:
        """The lines at the head of the window, as many as a row may have."""
        size, maximum = 0, 1 if self._credit.exhausted else MAX_ROW_LINES
        for n in range(maximum):
            if self._at + n == len(self._window) and not self._fill():
                return
            line = self._window[self._at + n]
            size += size_of(line)
            if size > MAX_ROW_BYTES and n:
                raise _RowTooLongError
            yield line
        raise _RowTooLongError

    def _hides_rows(self, extent: _Extent) -> bool:
        """Whether a row of several lines with the wrong number of cells is rather several rows, one of them damaged."""
        if len(extent.cells) == len(self._names):
            return False
        lines = self._lines(extent.lines)[1:]
        return sum(map(self._is_row, lines)) * 2 > len(lines)

    def _is_row(self, line: str) -> bool:
        """Whether a line is a row of its own."""
        if not self._sound_line.fullmatch(line):
            return False
        return len(next(csv.reader([line], delimiter=self._dialect.delimiter))) == len(self._names)

    # The window -----------------------------------------------------------------------------------------------------

    def _has_line(self) -> bool:
        return self._at < len(self._window) or self._fill()

    def _line(self) -> str:
        return self._window[self._at]

    def _lines(self, maximum: int) -> list[str]:
        return self._window[self._at : self._at + maximum]

    def _fill(self) -> bool:
        """Reads on. False at the end of the file."""
        block = next(self._blocks, None)
        if block is None:
            return False
        if self._at == len(self._window):
            self._window.clear()
            self._at, self._marked = 0, False
        self._marked = self._marked or bool(mark_of("".join(block)))
        self._window += block
        return True

    def _drop(self, lines: int) -> None:
        """Takes lines from the head of the window: they are in a row now."""
        self._credit.earn(sum(map(len, self._lines(lines))))
        self._at += lines
        self._number += lines


_RAREST_FIRST = ("\t", "|", ";", ",")  # in prose
_NOT_CUT = (0.0, False, 0)


def detect_delimiter(lines: Sequence[str]) -> str:
    """The delimiter of a table that begins with these lines: it cuts most of them into the same number of cells.

    Where none does, it is that of the first line, and for a table of one column one that does not occur.
    """
    named = DELIMITER_LINE.fullmatch(lines[0]) if lines else None
    if named and not named[1].isalnum() and named[1] not in ' "':
        return named[1]
    best = max(_RAREST_FIRST, key=lambda delimiter: _score(lines, delimiter))
    if _score(lines, best) > _NOT_CUT:
        return best
    widest = max(DELIMITERS, key=lambda delimiter: sum(widths(lines[:1], delimiter)))
    if sum(widths(lines[:1], widest)) > 1:
        return widest
    return next((each for each in DELIMITERS if not any(each in line for line in lines)), ",")


def _score(lines: Sequence[str], delimiter: str) -> tuple[float, bool, int]:
    """How well a delimiter fits: the share of lines with as many cells, whether the first is one, how many cells."""
    counts = widths(lines, delimiter)
    common, n = max(Counter(counts).most_common(1), default=(1, 0))
    if common < 2:
        return _NOT_CUT
    return round(n / len(counts), 1), counts[0] == common, common
