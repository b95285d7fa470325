"""Bringing the media of a folder on the server's machine: as the page does it, without a network."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import attrs

from crowdd.admin_cli.lookups import project as found
from crowdd.domain.server.services import Services
from crowdd.domain.transfer.media_batches.batches import MAX_KEY, Batches
from crowdd.domain.transfer.media_batches.file_names import is_system_file
from crowdd.domain.transfer.media_batches.incoming_files import Part
from crowdd.errors import ForbiddenError, InvalidValueError, NotFoundError, TooLargeError
from crowdd.requester import SYSTEM
from crowdd.storage.transfer.media_rows import MediaFile

PART = 8_388_608  # bytes
_SHOWN = 20  # refused files
_REFUSALS = (InvalidValueError, TooLargeError, ForbiddenError)


@attrs.frozen
class AddedMedia:
    """A batch: how many files were copied and how many were there before, those that were refused, and its page."""

    batch: int
    copied: int
    present: int
    refused: dict[str, str]
    url: str


def files_in(directory: Path) -> list[Path]:
    """The files of a folder and of the folders in it, without links and files of the system. Raises NotFoundError."""
    every = (path for path in sorted(directory.rglob("*")) if path.is_file() and not path.is_symlink())
    files = [path for path in every if not is_system_file(path.relative_to(directory).as_posix())]
    if not files:
        raise NotFoundError(f"{directory} has no files.")
    return files


async def add(
    services: Services,
    which: str,
    directory: Path,
    files: Sequence[Path],
    choices: Mapping[str, object],
    report: Callable[[int], object],
) -> AddedMedia:
    """Copies the files that the newest open batch lacks, and closes it. ``report`` gets the number that are done."""
    row, batches = await found(services.projects, services.records, which), services.media_batches
    batch = await batches.begin_or_go_on(SYSTEM, row, choices)
    copied, present, refused = 0, 0, dict[str, str]()
    for number, path in enumerate(files, 1):
        name = path.relative_to(directory).as_posix()
        try:
            file = await batches.create(SYSTEM, row, batch, name, path.stat().st_size, _key(path, name))
            if file.state == "arriving":
                await _copy(batches, file, path)
                copied += 1
            else:
                present += 1
        except _REFUSALS as error:
            refused[name] = str(error)
        report(number)
    await batches.close(SYSTEM, row, batch)
    url = f"{services.settings.base_url}/project/{row['short_name']}/tasks/media/{batch}"
    return AddedMedia(batch, copied, present, refused, url)


def _key(path: Path, name: str) -> str:
    """What tells a file from others of its batch; "" leaves that to its path and size."""
    stat = path.stat()
    key = f"{stat.st_size}-{stat.st_mtime_ns}-{name}"
    return key if key.isascii() and key.isprintable() and len(key) <= MAX_KEY else ""


async def _copy(batches: Batches, file: MediaFile, path: Path) -> None:
    offset = await batches.offset(SYSTEM, file)
    with path.open("rb") as content:
        content.seek(offset)
        while offset < file.n_bytes:
            piece = content.read(min(PART, file.n_bytes - offset))
            if not piece:
                raise InvalidValueError("The file became shorter while it was read.")
            offset = await batches.append(SYSTEM, file, Part(offset, io.BytesIO(piece), len(piece)))


def words(done: AddedMedia) -> list[str]:
    """What is said in the end."""
    shown = [f"{name}: {reason}" for name, reason in list(done.refused.items())[:_SHOWN]]
    more = [f"{len(done.refused) - _SHOWN} more were refused."] if len(done.refused) > _SHOWN else []
    return [
        f"{done.copied} files copied, {done.present} were there already, {len(done.refused)} refused.",
        *shown,
        *more,
        f"The server makes tasks of them: {done.url}",
    ]
