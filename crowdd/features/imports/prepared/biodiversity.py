"""Darwin Core archives and archives of observations as rows: one for each picture, sound and video.

A Darwin Core archive, as GBIF exports it, describes its tables and their terms in ``meta.xml``. Its table of media is
joined with the observations by their key; without one its occurrences are the rows. iNaturalist has one table of
observations and one of their media.
"""

from __future__ import annotations

import codecs
import csv
import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from xml.parsers import expat

import attrs
import orjson

from crowdd.features.imports.files.containers import BROKEN, observation_tables
from crowdd.features.imports.files.text import MAX_COLUMNS, MAX_ROWS
from crowdd.features.imports.prepared.rows_file import RowsFile
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _

MAX_METAFILE_BYTES = 1_000_000
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
            self._open = _parse_table(local == "core", attributes)
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


def _parse_table(core: bool, attributes: Mapping[str, str]) -> Table:
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


MAX_KEPT = 300_000_000  # bytes of observations that media belong to
Row = Mapping[str, Any] | list[Any]
Named = dict[str, str]


def write_media_rows(rows: Iterator[Row], target: Path, about: dict[str, Any]) -> None:
    """Writes the rows. Raises InvalidValueError for too many."""
    out = RowsFile(target, about)
    for number, row in enumerate(rows, 1):
        if number > MAX_ROWS:
            raise InvalidValueError(_("The file has more than %(max)s rows. Split it.", max=f"{MAX_ROWS:,}"))
        out.add(row)
    out.close()


def join_media(
    archive: zipfile.ZipFile,
    core: Table,
    media: Table,
    address_of: Callable[[Named], str],
    observation_of: Callable[[Named], Named],
) -> Iterator[Row]:
    """A row for each medium with its observation. One without an address is empty.

    ``address_of`` takes the address out of the cells of a medium, ``observation_of`` those of an observation that rows
    have.
    """
    wanted = {_key(media, cells) for cells in read_records(archive, media)}
    observed, size = {}, 0
    for cells in read_records(archive, core):
        if (key := _key(core, cells)) in wanted:
            observed[key] = orjson.dumps(observation_of(name_cells(core, cells)))
            size += len(observed[key])
            if size > MAX_KEPT:
                raise InvalidValueError(_("The archive has too many occurrences. Export it in parts."))
    for cells in read_records(archive, media):
        medium = name_cells(media, cells)
        address = address_of(medium)
        observation = observed.get(_key(media, cells))
        yield (
            {_role(medium, address): address, **(orjson.loads(observation) if observation else {}), **medium}
            if address
            else []
        )


def read_records(archive: zipfile.ZipFile, table: Table) -> Iterator[list[str]]:
    """The cells of each record of a table."""
    with archive.open(table.location) as member:
        text = io.TextIOWrapper(member, table.encoding, "replace", newline="" if table.quote else "\n")
        if table.quote:
            reader = csv.reader(text, delimiter=table.delimiter, quotechar=table.quote)
        else:
            reader = csv.reader(text, delimiter=table.delimiter, quoting=csv.QUOTE_NONE)
        yield from islice(reader, table.header_lines, None)


def name_cells(table: Table, cells: list[str]) -> Named:
    """The cells that are not empty by their terms."""
    return {name: cells[at] for at, name in table.terms.items() if name and at < len(cells) and cells[at].strip()}


def _role(medium: Mapping[str, str], address: str) -> str:
    """Which column the address of a medium is for."""
    kind = f"{medium.get('type', '')} {medium.get('format', '')} {medium.get('file_content_type', '')}".lower()
    ending = address.partition("?")[0].rpartition(".")[2].lower()
    if "sound" in kind or "audio" in kind or ending in _SOUND:
        return "sound"
    return "video" if "moving" in kind or "video" in kind or ending in _VIDEO else "picture"


_SOUND = frozenset({"mp3", "wav", "m4a", "ogg", "oga", "flac"})
_VIDEO = frozenset({"mp4", "webm", "mov"})


def _key(table: Table, cells: list[str]) -> str:
    return cells[table.key] if table.key is not None and table.key < len(cells) else ""


_MEDIA_KINDS = frozenset({"Multimedia", "Image"})
_DARWIN_CORE_ADDRESSES = ("accessURI", "identifier", "goodQualityAccessURI")
# Of an occurrence, what helps to look at its media.
_OBSERVED = frozenset({
    "gbifID", "occurrenceID", "catalogNumber", "basisOfRecord", "scientificName", "vernacularName", "kingdom",
    "family", "genus", "taxonRank", "eventDate", "country", "countryCode", "stateProvince", "locality",
    "decimalLatitude", "decimalLongitude", "recordedBy", "individualCount", "sex", "lifeStage", "license",
})  # fmt: skip


def convert_darwin_core(source: Path, target: Path, about: dict[str, object], _sheet: str) -> None:
    """Writes the rows of an archive. Raises InvalidValueError for one that cannot be read."""
    try:
        with zipfile.ZipFile(source) as archive:
            _write(archive, target, about)
    except (*BROKEN, KeyError, csv.Error, UnicodeError) as error:
        if isinstance(error, InvalidValueError):
            raise
        raise InvalidValueError(unreadable()) from None


def _write(archive: zipfile.ZipFile, target: Path, about: dict[str, object]) -> None:
    with archive.open("meta.xml") as file:
        tables = tables_of(file.read(MAX_METAFILE_BYTES + 1)[:MAX_METAFILE_BYTES])
    core = next((table for table in tables if table.core), None)
    media = next((table for table in tables if not table.core and table.kind in _MEDIA_KINDS), None)
    if core is None or len(core.terms) > MAX_COLUMNS:
        raise InvalidValueError(unreadable())
    rows = (
        _occurrences(archive, core)
        if media is None
        else join_media(archive, core, media, _darwin_core_address, _observed)
    )
    write_media_rows(rows, target, about)


def _occurrences(archive: zipfile.ZipFile, core: Table) -> Iterator[Row]:
    for cells in read_records(archive, core):
        yield name_cells(core, cells) or []


def _darwin_core_address(medium: Named) -> str:
    return next((medium.pop(name) for name in _DARWIN_CORE_ADDRESSES if medium.get(name)), "")


def _observed(cells: Named) -> Named:
    return {name: value for name, value in cells.items() if name in _OBSERVED}


# The column of the table of media that names the observation, and those by which the other table may call it.
_KEYS = {
    "observation_uuid": ("observation_uuid", "uuid"),
    "observation_id": ("observation_id", "id"),
    "observationid": ("observationid", "id"),
    "occurrenceid": ("occurrenceid", "id"),
    "gbifid": ("gbifid", "id"),
}
_OBSERVATION_ADDRESSES = (
    "url", "photo_url", "image_url", "sound_url", "media_url", "original_url", "large_url", "medium_url", "file_url",
    "accessURI", "identifier",
)  # fmt: skip
# Where iNaturalist keeps the pictures that its open data name by number and ending.
_OPEN_DATA = "https://inaturalist-open-data.s3.amazonaws.com/photos/{photo_id}/medium.{extension}"
_HEAD = 1_000_000  # bytes of the first line


def convert_observations(source: Path, target: Path, about: dict[str, Any], _sheet: str) -> None:
    """Writes the rows of an archive. Raises InvalidValueError for one that cannot be read."""
    try:
        with zipfile.ZipFile(source) as archive:
            table_names = observation_tables(archive.namelist())
            if table_names is None:
                raise InvalidValueError(_unreadable())
            core, media = (_find_table(archive, name) for name in table_names)
            _link(core, media)
            rows = join_media(archive, core, media, _observation_address, partial(_kept, core, media))
            write_media_rows(rows, target, about)
    except (*BROKEN, KeyError, csv.Error, UnicodeError) as error:
        if isinstance(error, InvalidValueError):
            raise
        raise InvalidValueError(_unreadable()) from None


def _find_table(archive: zipfile.ZipFile, name: str) -> Table:
    """A table whose first line names its columns."""
    with archive.open(name) as member:
        line = member.readline(_HEAD).decode("utf-8-sig", "replace")
    delimiter = max(",\t;", key=line.count)
    terms = next(csv.reader(io.StringIO(line), delimiter=delimiter), [])
    if not 1 < len(terms) <= MAX_COLUMNS:
        raise InvalidValueError(_unreadable())
    named = {at: term.strip()[:100] for at, term in enumerate(terms)}
    return Table("", False, "utf-8-sig", delimiter, '"', 1, location=name, terms=named)


def _link(core: Table, media: Table) -> None:
    """Finds the column that both tables have. Raises InvalidValueError if there is none."""
    in_core, in_media = ({term.lower(): at for at, term in each.terms.items()} for each in (core, media))
    for name, names in _KEYS.items():
        core_column = next((in_core[other] for other in names if other in in_core), None)
        if name in in_media and core_column is not None:
            core.key, media.key = core_column, in_media[name]
            return
    raise InvalidValueError(
        _(
            "The table of media needs a column that names the observation: observation_id, observation_uuid, gbifID or"
            " occurrenceID. The table of observations needs the same column, or id."
        )
    )


def _observation_address(fields: Named) -> str:
    if address := next((fields.pop(name) for name in _OBSERVATION_ADDRESSES if fields.get(name)), ""):
        return address
    both = {"photo_id", "extension"} <= fields.keys() and fields["photo_id"].isdigit() and fields["extension"].isalnum()
    return _OPEN_DATA.format(**fields) if both else ""


def _kept(core: Table, media: Table, cells: Named) -> Named:
    """The cells of an observation. Names that the other table has, too, begin with ``observation_``."""
    key, taken = core.terms[core.key or 0], frozenset(media.terms.values())
    return {f"observation_{name}" if name in taken else name: value for name, value in cells.items() if name != key}


def _unreadable() -> str:
    return _(
        "The archive of observations is damaged or in a form that is not supported. Import one of its tables as CSV."
    )
