"""A Darwin Core archive as rows, as GBIF exports it: one for each picture, sound and video, with what was observed.

An archive without a table of media has its occurrences as rows.
"""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterator
from pathlib import Path

from crowdd.domain.transfer.prepared import media_rows
from crowdd.domain.transfer.prepared.media_rows import Named, Row
from crowdd.domain.transfer.prepared.metafile import MAX_BYTES, Table, tables_of, unreadable
from crowdd.domain.transfer.task_files.containers import BROKEN
from crowdd.domain.transfer.task_files.limits import MAX_COLUMNS
from crowdd.errors import InvalidValueError

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
    rows = (
        _occurrences(archive, core) if media is None else media_rows.joined(archive, core, media, _address, _observed)
    )
    media_rows.write(rows, target, about)


def _occurrences(archive: zipfile.ZipFile, core: Table) -> Iterator[Row]:
    for cells in media_rows.records(archive, core):
        yield media_rows.named(core, cells) or []


def _address(medium: Named) -> str:
    return next((medium.pop(name) for name in _ADDRESSES if medium.get(name)), "")


def _observed(cells: Named) -> Named:
    return {name: value for name, value in cells.items() if name in _OBSERVED}
