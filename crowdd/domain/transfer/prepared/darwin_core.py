"""A Darwin Core archive as rows, as GBIF exports it: one for each picture, sound and video, with what was observed.

An archive without a table of media has its occurrences as rows.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from crowdd.domain.transfer.prepared.metafile import MAX_BYTES, Table, tables_of, unreadable
from crowdd.domain.transfer.prepared.rows_file import RowsFile
from crowdd.domain.transfer.task_files.containers import BROKEN
from crowdd.domain.transfer.task_files.limits import MAX_COLUMNS, MAX_ROWS
from crowdd.errors import InvalidValueError
from crowdd.languages import _

MAX_KEPT = 300_000_000  # bytes of occurrences that media belong to
_MEDIA_KINDS = frozenset({"Multimedia", "Image"})
_ADDRESSES = ("accessURI", "identifier", "goodQualityAccessURI")
# Of an occurrence, what helps to look at its media.
_OBSERVED = frozenset({
    "gbifID", "occurrenceID", "catalogNumber", "basisOfRecord", "scientificName", "vernacularName", "kingdom",
    "family", "genus", "taxonRank", "eventDate", "country", "countryCode", "stateProvince", "locality",
    "decimalLatitude", "decimalLongitude", "recordedBy", "individualCount", "sex", "lifeStage", "license",
})  # fmt: skip


def convert(source: Path, target: Path, about: dict[str, object], _sheet: str) -> None:
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
        tables = tables_of(file.read(MAX_BYTES + 1)[:MAX_BYTES])
    core = next((table for table in tables if table.core), None)
    media = next((table for table in tables if not table.core and table.kind in _MEDIA_KINDS), None)
    if core is None or len(core.terms) > MAX_COLUMNS:
        raise InvalidValueError(unreadable())
    out = RowsFile(target, about)
    rows = _occurrences(archive, core) if media is None else _media(archive, core, media)
    for number, row in enumerate(rows, 1):
        if number > MAX_ROWS:
            raise InvalidValueError(_("The file has more than %(max)s rows. Split it.", max=f"{MAX_ROWS:,}"))
        out.add(row)
    out.close()


def _occurrences(archive: zipfile.ZipFile, core: Table) -> Iterator[Mapping[str, Any] | list[Any]]:
    for cells in _records(archive, core):
        yield _named(core, cells) or []


def _media(archive: zipfile.ZipFile, core: Table, media: Table) -> Iterator[Mapping[str, Any] | list[Any]]:
    wanted = {_key(media, cells) for cells in _records(archive, media)}
    observed, size = {}, 0
    for cells in _records(archive, core):
        if (key := _key(core, cells)) in wanted:
            kept = {name: value for name, value in _named(core, cells).items() if name in _OBSERVED}
            observed[key] = orjson.dumps(kept)
            size += len(observed[key])
            if size > MAX_KEPT:
                raise InvalidValueError(_("The archive has too many occurrences. Export it in parts."))
    for cells in _records(archive, media):
        said = _named(media, cells)
        address = next((said.pop(name) for name in _ADDRESSES if said.get(name)), "")
        found = observed.get(_key(media, cells))
        yield {_role(said): address, **(orjson.loads(found) if found else {}), **said} if address else []


def _role(said: Mapping[str, str]) -> str:
    """Which column the address of a medium is for."""
    kind = f"{said.get('type', '')} {said.get('format', '')}".lower()
    if "sound" in kind or "audio" in kind:
        return "sound"
    return "video" if "moving" in kind or "video" in kind else "picture"


def _records(archive: zipfile.ZipFile, table: Table) -> Iterator[list[str]]:
    with archive.open(table.location) as member:
        text = io.TextIOWrapper(member, table.encoding, "replace", newline="" if table.quote else "\n")
        if table.quote:
            found = csv.reader(text, delimiter=table.delimiter, quotechar=table.quote)
        else:
            found = csv.reader(text, delimiter=table.delimiter, quoting=csv.QUOTE_NONE)
        yield from islice(found, table.header_lines, None)


def _named(table: Table, cells: list[str]) -> dict[str, str]:
    """The cells that are not empty by their terms."""
    return {name: cells[at] for at, name in table.terms.items() if name and at < len(cells) and cells[at].strip()}


def _key(table: Table, cells: list[str]) -> str:
    return cells[table.key] if table.key is not None and table.key < len(cells) else ""
