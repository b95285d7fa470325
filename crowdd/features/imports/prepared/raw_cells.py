"""What calamine does not tell of the cells of a sheet (XLSX): errors, formulas without a value, days before 1900.

The sheet is read beside calamine, piece by piece. Entities are not expanded.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final
from xml.parsers import expat

import attrs

from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _

_PIECE: Final = 65_536
_WORKBOOK: Final = "xl/workbook.xml"
_RELATIONS: Final = "xl/_rels/workbook.xml.rels"
_DAY_ZERO: Final = datetime(1899, 12, 30)


@attrs.frozen
class RawCell:
    """A cell of which calamine tells less: its ``error``, an ``unknown`` formula, or its negative ``number``."""

    error: str = ""
    unknown: bool = False
    number: float = 0.0

    def fault(self, at: str) -> str:
        """Why its row cannot be used, or ""; ``at``: the cell, such as B5."""
        if self.error:
            return _("The cell %(cell)s has the error %(error)s.", cell=at, error=self.error[:20])
        if self.unknown:
            return _(
                "The cell %(cell)s has a formula without its result. Open the workbook in Excel or LibreOffice, save it"
                " and import it again.",
                cell=at,
            )
        return ""

    def day(self) -> str:
        """The date that its number is: of days before 1899-12-30, as LibreOffice and openpyxl write them."""
        try:
            moment = _DAY_ZERO + timedelta(days=self.number)
        except OverflowError:
            return ""
        return moment.date().isoformat() if moment.time() == datetime.min.time() else moment.isoformat()


Raw = Mapping[int, Mapping[int, RawCell]]
"""By row and column, from 0."""


def read(source: Path, sheet: str) -> Raw:
    """Such cells of a sheet; none where the file is not as it should be, which calamine then says."""
    try:
        with zipfile.ZipFile(source) as archive, archive.open(_part(archive, sheet)) as part:
            parser = _Sheet()
            while piece := part.read(_PIECE):
                parser.feed(piece)
            return parser.cells
    except (zipfile.BadZipFile, KeyError, expat.ExpatError, EOFError, OSError, NotImplementedError, ValueError):
        return {}


def _part(archive: zipfile.ZipFile, sheet: str) -> str:
    """The name of the part with a sheet. Raises KeyError."""
    relation = next(each["id"] for each in _elements(archive, _WORKBOOK, "sheet") if each.get("name") == sheet)
    target = {each["Id"]: each["Target"] for each in _elements(archive, _RELATIONS, "Relationship")}[relation]
    return target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join("xl", target))


def _elements(archive: zipfile.ZipFile, part: str, name: str) -> Iterator[dict[str, str]]:
    """The attributes of the elements of a name, without prefixes."""
    elements: list[dict[str, str]] = []

    def begin(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(":")[2] == name:
            elements.append({key.rpartition(":")[2]: value for key, value in attributes.items()})

    parser = _parser()
    parser.StartElementHandler = begin
    parser.Parse(archive.read(part), True)
    return iter(elements)


def _parser() -> expat.XMLParserType:
    parser = expat.ParserCreate()
    parser.EntityDeclHandler = _refuse_entity
    parser.buffer_text = True
    return parser


def _refuse_entity(*declaration: object) -> None:
    raise InvalidValueError(_("The workbook cannot be read. Save its table as CSV (UTF-8) and import that."))


class _Sheet:
    """Collects such cells of a sheet that comes in pieces."""

    def __init__(self) -> None:
        self.cells: dict[int, dict[int, RawCell]] = {}
        self._parser = _parser()
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._take
        self._row = self._column = -1
        self._type = self._value = ""
        self._formula = self._known = self._reads = False

    def feed(self, piece: bytes) -> None:
        """The next bytes."""
        self._parser.Parse(piece, False)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        match name.rpartition(":")[2]:
            case "row":
                self._row = int(attributes["r"]) - 1 if "r" in attributes else self._row + 1
                self._column = -1
            case "c":
                self._column = _column_of(attributes["r"]) if "r" in attributes else self._column + 1
                self._type, self._value = attributes.get("t", "n"), ""
                self._formula = self._known = False
            case "f":
                self._formula = True
            case "v" | "is":
                self._known = self._reads = True

    def _take(self, text: str) -> None:
        if self._reads:
            self._value += text

    def _end(self, name: str) -> None:
        match name.rpartition(":")[2]:
            case "v" | "is":
                self._reads = False
            case "c":
                cell = self._cell()
                if cell is not None:
                    self.cells.setdefault(self._row, {})[self._column] = cell

    def _cell(self) -> RawCell | None:
        if self._type == "e":
            return RawCell(error=self._value or "#N/A")
        # Programs that do not calculate (openpyxl) write an empty value; an empty text has the type str.
        if self._formula and not (self._known and (self._value or self._type == "str")):
            return RawCell(unknown=True)
        if self._type == "n" and self._value.startswith("-"):
            return RawCell(number=float(self._value))
        return None


def _column_of(reference: str) -> int:
    number = 0
    for letter in reference.rstrip("0123456789"):
        number = number * 26 + ord(letter.upper()) - 64
    return number - 1
