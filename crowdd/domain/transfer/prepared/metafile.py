"""The description of a Darwin Core archive (``meta.xml``): its tables, their form, and the terms of their columns."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from xml.parsers import expat

import attrs

from crowdd.errors import InvalidValueError
from crowdd.languages import _

MAX_BYTES = 1_000_000
_ESCAPES = {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\\\": "\\"}


@attrs.define
class Table:
    """A table of an archive. ``key``: the column that links it; ``terms`` by column, without their vocabulary."""

    kind: str
    core: bool
    encoding: str
    delimiter: str
    quote: str
    header_lines: int
    location: str = ""
    key: int | None = None
    terms: dict[int, str] = attrs.field(factory=dict)


class _Handler:
    """Collects tables while the description is read."""

    def __init__(self) -> None:
        self.tables: list[Table] = []
        self._open: Table | None = None
        self._text: list[str] | None = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        local = name.rpartition(":")[2]
        if local in ("core", "extension"):
            self._open = _table(local == "core", attributes)
            self.tables.append(self._open)
        elif self._open is None:
            return
        elif local in ("id", "coreid") and attributes.get("index", "").isdigit():
            self._open.key = int(attributes["index"])
        elif local == "field" and attributes.get("index", "").isdigit():
            self._open.terms[int(attributes["index"])] = _local(attributes.get("term", ""))
        elif local == "location":
            self._text = []

    def data(self, text: str) -> None:
        """Text between elements."""
        if self._text is not None:
            self._text.append(text)

    def end(self, name: str) -> None:
        """An element ends."""
        local = name.rpartition(":")[2]
        if local == "location" and self._open is not None and self._text is not None:
            self._open.location = self._open.location or "".join(self._text).strip()
            self._text = None
        elif local in ("core", "extension"):
            self._open = None


def tables_of(content: bytes) -> list[Table]:
    """The tables of an archive that have a file. Raises InvalidValueError for a description that cannot be read."""
    handler, parser = _Handler(), expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = handler.start, handler.end
    parser.CharacterDataHandler, parser.EntityDeclHandler = handler.data, _refuse_entity
    try:
        parser.Parse(content, True)
    except expat.ExpatError:
        raise InvalidValueError(unreadable()) from None
    tables = [table for table in handler.tables if table.location and table.terms]
    if not tables:
        raise InvalidValueError(unreadable())
    return tables


def unreadable() -> str:
    """Why an archive is refused."""
    return _("The Darwin Core archive is damaged or in a form that is not supported. Import one of its tables as CSV.")


def _refuse_entity(*_declaration: object) -> None:
    raise InvalidValueError(unreadable())


def _table(core: bool, attributes: Mapping[str, str]) -> Table:
    encoding = attributes.get("encoding", "UTF-8")
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise InvalidValueError(unreadable()) from None
    delimiter, quote = (
        _unescaped(attributes.get(n, d)) for n, d in (("fieldsTerminatedBy", ","), ("fieldsEnclosedBy", '"'))
    )
    if len(delimiter) != 1 or len(quote) > 1 or delimiter in "\r\n" or quote == delimiter:
        raise InvalidValueError(unreadable())
    lines = attributes.get("ignoreHeaderLines", "0")
    return Table(
        _local(attributes.get("rowType", "")), core, encoding, delimiter, quote, int(lines) if lines.isdigit() else 0
    )


def _unescaped(text: str) -> str:
    return _ESCAPES.get(text, text)


def _local(term: str) -> str:
    """A term without its vocabulary: scientificName."""
    return term.rpartition("#")[2].rpartition("/")[2][:100]
