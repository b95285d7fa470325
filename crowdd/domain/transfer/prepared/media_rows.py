"""Rows of media with what was observed: two tables of an archive, joined by the key of the observation."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from crowdd.domain.transfer.prepared.metafile import Table
from crowdd.domain.transfer.prepared.rows_file import RowsFile
from crowdd.domain.transfer.task_files.limits import MAX_ROWS
from crowdd.errors import InvalidValueError
from crowdd.languages import _

MAX_KEPT = 300_000_000  # bytes of observations that media belong to
Row = Mapping[str, Any] | list[Any]
Named = dict[str, str]


def write(rows: Iterator[Row], target: Path, about: dict[str, Any]) -> None:
    """Writes the rows. Raises InvalidValueError for too many."""
    out = RowsFile(target, about)
    for number, row in enumerate(rows, 1):
        if number > MAX_ROWS:
            raise InvalidValueError(_("The file has more than %(max)s rows. Split it.", max=f"{MAX_ROWS:,}"))
        out.add(row)
    out.close()


def joined(
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
    wanted = {_key(media, cells) for cells in records(archive, media)}
    observed, size = {}, 0
    for cells in records(archive, core):
        if (key := _key(core, cells)) in wanted:
            observed[key] = orjson.dumps(observation_of(named(core, cells)))
            size += len(observed[key])
            if size > MAX_KEPT:
                raise InvalidValueError(_("The archive has too many occurrences. Export it in parts."))
    for cells in records(archive, media):
        medium = named(media, cells)
        address = address_of(medium)
        observation = observed.get(_key(media, cells))
        yield (
            {_role(medium, address): address, **(orjson.loads(observation) if observation else {}), **medium}
            if address
            else []
        )


def records(archive: zipfile.ZipFile, table: Table) -> Iterator[list[str]]:
    """The cells of each record of a table."""
    with archive.open(table.location) as member:
        text = io.TextIOWrapper(member, table.encoding, "replace", newline="" if table.quote else "\n")
        if table.quote:
            reader = csv.reader(text, delimiter=table.delimiter, quotechar=table.quote)
        else:
            reader = csv.reader(text, delimiter=table.delimiter, quoting=csv.QUOTE_NONE)
        yield from islice(reader, table.header_lines, None)


def named(table: Table, cells: list[str]) -> Named:
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
