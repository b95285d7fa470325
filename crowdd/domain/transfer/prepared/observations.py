"""An archive with a table of observations and one of their media, as iNaturalist has them: a row for each medium."""

from __future__ import annotations

import csv
import io
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

from crowdd.domain.transfer.prepared import media_rows
from crowdd.domain.transfer.prepared.media_rows import Named
from crowdd.domain.transfer.prepared.metafile import Table
from crowdd.domain.transfer.task_files.containers import BROKEN, observation_tables
from crowdd.domain.transfer.task_files.limits import MAX_COLUMNS
from crowdd.errors import InvalidValueError
from crowdd.languages import _

# The column of the table of media that names the observation, and those by which the other table may call it.
_KEYS = {
    "observation_uuid": ("observation_uuid", "uuid"),
    "observation_id": ("observation_id", "id"),
    "observationid": ("observationid", "id"),
    "occurrenceid": ("occurrenceid", "id"),
    "gbifid": ("gbifid", "id"),
}
_ADDRESSES = (
    "url", "photo_url", "image_url", "sound_url", "media_url", "original_url", "large_url", "medium_url", "file_url",
    "accessURI", "identifier",
)  # fmt: skip
# Where iNaturalist keeps the pictures that its open data name by number and ending.
_OPEN_DATA = "https://inaturalist-open-data.s3.amazonaws.com/photos/{photo_id}/medium.{extension}"
_HEAD = 1_000_000  # bytes of the first line


def convert(source: Path, target: Path, about: dict[str, Any], _sheet: str) -> None:
    """Writes the rows of an archive. Raises InvalidValueError for one that cannot be read."""
    try:
        with zipfile.ZipFile(source) as archive:
            table_names = observation_tables(archive.namelist())
            if table_names is None:
                raise InvalidValueError(_unreadable())
            core, media = (_table(archive, name) for name in table_names)
            _link(core, media)
            rows = media_rows.joined(archive, core, media, _address, partial(_kept, core, media))
            media_rows.write(rows, target, about)
    except (*BROKEN, KeyError, csv.Error, UnicodeError) as error:
        if isinstance(error, InvalidValueError):
            raise
        raise InvalidValueError(_unreadable()) from None


def _table(archive: zipfile.ZipFile, name: str) -> Table:
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


def _address(fields: Named) -> str:
    if address := next((fields.pop(name) for name in _ADDRESSES if fields.get(name)), ""):
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
