"""How a file of tasks is to be read."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import attrs

from crowdd.features.imports.files.text import MAX_COLUMNS
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kinds.column_roles import MAX_NAME

PREPARED = ("xlsx", "ods", "parquet", "iiif", "coco", "dwca", "observations", "geojson", "gpx")
"""Formats that are no text: ``features.imports.prepared`` reads them into rows."""
FORMATS = ("csv", "json", "ndjson", *PREPARED)
TABLES = frozenset({"csv", "xlsx", "ods"})
"""Formats whose first line may name the columns."""
MAX_SHEET_CHARACTERS = 255
MAX_LINE = 1000  # in which the names of columns may be
ENCODINGS: Mapping[str, str] = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 (BOM)",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16 (LE)",
    "utf-16-be": "UTF-16 (BE)",
    "cp1252": "Windows-1252",
    "latin-1": "Latin-1",
    "iso8859-15": "Latin-9",
    "mac_roman": "Mac Roman",
    "cp850": "DOS 850",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "cp1253": "Windows-1253",
    "cp1254": "Windows-1254",
    "cp1255": "Windows-1255",
    "cp1256": "Windows-1256",
    "cp932": "Shift JIS",
    "gb18030": "GB 18030",
    "big5": "Big5",
    "cp949": "EUC-KR",
}
"""The encodings that can be read, and what people call them."""
DELIMITERS = (",", ";", "\t", "|")
_NO_DELIMITERS = frozenset('"\r\n\0 \ufeff')


@attrs.frozen
class Dialect:
    """How a file is to be read: one of FORMATS, one of ENCODINGS, its delimiter ("" unless csv).

    ``header``: the first line names the columns. Without it they are called column_1, column_2, and so on.
    ``detect`` finds it, it is stored with the import, and the owner changes it where the guess was wrong. A delimiter
    other than DELIMITERS comes from a line ``sep=`` at the beginning of the file. ``sheet`` names the one of a workbook
    that is read, "" the first visible one that has rows. ``line`` is the number of the line with the names, above which
    nothing is read; 0 where that is found by looking. ``names`` are the names that columns of the file get, by those
    that they have in it. ``commas``: columns of a table that are all numbers with a decimal comma, by the
    names that they get, and whether these become numbers.
    """

    format: str
    encoding: str = "utf-8"
    delimiter: str = ""
    header: bool = True
    sheet: str = ""
    line: int = 0
    names: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    commas: Mapping[str, bool] = attrs.field(factory=dict, hash=False)

    def to_json(self) -> dict[str, Any]:
        """The dialect as a JSON object."""
        return attrs.asdict(self)

    def options(self) -> dict[str, Any]:
        """What a file that is no text is read into rows by."""
        return {"format": self.format, "sheet": self.sheet}

    @classmethod
    def from_json(cls, value: object) -> Dialect:
        """The dialect of a JSON object. Raises InvalidValueError for what no dialect has."""
        if not isinstance(value, Mapping):
            raise InvalidValueError(_("The dialect must be an object."))
        format_ = _one_of("format", value.get("format"), FORMATS)
        return cls(
            format_,
            _one_of("encoding", value.get("encoding", "utf-8"), tuple(ENCODINGS)),
            _delimiter(value.get("delimiter", ",")) if format_ == "csv" else "",
            bool(_one_of("header", value.get("header", True), (True, False))),
            _sheet(value.get("sheet", "")),
            _line(value.get("line", 0)),
            _names(value.get("names", {})),
            _commas(value.get("commas", {})),
        )


def _delimiter(value: object) -> str:
    """One of DELIMITERS, or what a file itself names in a line ``sep=``: no letter, digit, quotation mark or blank."""
    if isinstance(value, str) and len(value) == 1 and not value.isalnum() and value not in _NO_DELIMITERS:
        return value
    return str(_one_of("delimiter", value, DELIMITERS))


def _line(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_LINE:
        raise InvalidValueError(_("`line` must be a number from 0 to %(max)s.", max=MAX_LINE))
    return value


def _sheet(value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_SHEET_CHARACTERS:
        raise InvalidValueError(_("`sheet` must be a text of up to %(max)s characters.", max=MAX_SHEET_CHARACTERS))
    return value


def _names(value: object) -> dict[str, str]:
    """The names of columns: none is given twice."""
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for pair in value.items() for name in pair):
        raise InvalidValueError(_("`names` must be an object of texts."))
    names = {old: new.strip() for old, new in value.items() if new.strip() not in ("", old)}
    if len(names) > MAX_COLUMNS or any(len(name) > MAX_NAME or "\0" in name for name in names.values()):
        raise InvalidValueError(
            _("`names` may have %(max)s columns with up to %(n)s characters.", max=MAX_COLUMNS, n=MAX_NAME)
        )
    if len(set(names.values())) < len(names):
        raise InvalidValueError(_("Two columns cannot have the same name."))
    return names


def _commas(value: object) -> dict[str, bool]:
    if not isinstance(value, Mapping) or not all(isinstance(each, bool) for each in value.values()):
        raise InvalidValueError(_("`commas` must be an object of truth values."))
    return {str(name): each for name, each in islice(value.items(), MAX_COLUMNS)}


def _one_of(name: str, value: object, choices: tuple[object, ...]) -> Any:
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        words = _(
            "`%(name)s` must be one of %(choices)s (got %(value)s).",
            name=name,
            choices=", ".join(repr(choice) for choice in choices),
            value=repr(value)[:100],
        )
        raise InvalidValueError(words)
    return value
