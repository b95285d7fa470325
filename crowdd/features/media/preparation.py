"""Have files prepared by limited processes, forked from a helper with the libraries loaded, and check the output.

What the helper says is a status and nothing else.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs
import orjson

from crowdd.features.media.prepared import (
    Choices,
    Member,
    Prepared,
    PreparedFile,
    RefusedMember,
    Unpacked,
    clean_date,
    clean_description,
    refusal_sentence,
)
from crowdd.kernel.concurrency.isolated import HelperProcess, require_not_stopped
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.config.data import MediaSettings
from crowdd.kernel.errors import InvalidValueError

_PROGRAM: Final = "crowdd.features.media.preparation_program"
_GRACE_SECONDS: Final = 30.0  # within which it ends the one that it has forked


@attrs.define(eq=False)
class Helper(HelperProcess):
    """Has files prepared, one at a time."""

    program: str = _PROGRAM

    def status_of(self, source: Path, folder: Path, options: Mapping[str, Any], seconds: float) -> int:
        """How the process for a file ended (negative: by that signal); it is ended after so many seconds. Waits."""
        asked = {"source": str(source), "folder": str(folder), "options": dict(options), "seconds": seconds}
        answer, ended = self.ask(orjson.dumps(asked) + b"\n", seconds + _GRACE_SECONDS)
        return int(answer) if answer else ended


MAX_CPU_SECONDS: Final = 120
MAX_SECONDS: Final = 400.0
MAX_PICTURE_BYTES: Final = 500_000_000  # of all that is made of a picture or a document
_MAX_RESULT_BYTES: Final = 50_000_000
_RESULT: Final = "result.json"


@attrs.frozen
class LimitedPreparation:
    """``MediaPreparation`` in processes, one after the other; ``worker_thread`` waits for them."""

    worker_thread: WorkerThread
    settings: MediaSettings
    _helper: Helper = attrs.field(factory=Helper)

    async def prepare(self, source: Path, folder: Path, choices: Choices) -> Prepared:
        """As ``MediaPreparation.prepare``."""
        return await self.worker_thread.do(prepare, source, folder, choices, self.settings, self._helper)

    async def unpack(self, source: Path, folder: Path, *, max_files: int, max_bytes: int) -> Unpacked:
        """As ``MediaPreparation.unpack``."""
        return await self.worker_thread.do(unpack, source, folder, max_files, max_bytes, self._helper)


def prepare(source: Path, folder: Path, choices: Choices, settings: MediaSettings, helper: Helper) -> Prepared:
    """The same; it waits, so call it in a thread."""
    options = {
        "archive": False,
        "original": choices.original,
        "location": choices.location,
        "tiles": choices.tiles,
        "tile_pixels": settings.tile_pixels,
        "web_pixels": settings.web_pixels,
        "thumbnail_pixels": settings.thumbnail_pixels,
        "max_pixels": settings.max_pixels,
        "max_pages": settings.max_pages,
        "max_bytes": max(MAX_PICTURE_BYTES, source.stat().st_size + 1_000_000),
    }
    result = _run(source, folder, options, helper)
    files = tuple(_file(folder, made) for made in result.pop("files"))
    place = result.pop("place", None)
    date, description = clean_date(result.pop("date", "")), clean_description(result.pop("description", ""))
    at = None if place is None else (place[0], place[1])
    return Prepared(**result, files=files, place=at, date=date, description=description)


def unpack(source: Path, folder: Path, max_files: int, max_bytes: int, helper: Helper) -> Unpacked:
    """The same; it waits, so call it in a thread."""
    result = _run(source, folder, {"archive": True, "max_files": max_files, "max_bytes": max_bytes}, helper)
    pairs = zip(result["names"], result["files"], strict=True)
    members = tuple(Member(name, _checked(folder, made["name"], made["bytes"]), made["bytes"]) for name, made in pairs)
    refused = tuple(RefusedMember(each["name"], refusal_sentence(each["word"], {})) for each in result["refused"])
    return Unpacked(members, refused, result["skipped"])


def _run(source: Path, folder: Path, options: Mapping[str, object], helper: Helper) -> dict[str, Any]:
    """What the process says. Raises InvalidValueError when it refuses the file or is ended by a limit."""
    status = helper.status_of(source, folder, {**options, "max_cpu_seconds": MAX_CPU_SECONDS}, MAX_SECONDS)
    require_not_stopped(status)
    if status:
        raise InvalidValueError(refusal_sentence("costly", {}))
    result: dict[str, Any] = orjson.loads(_checked(folder, _RESULT, None).read_bytes())
    if "error" in result:
        raise InvalidValueError(refusal_sentence(result["error"], result["values"]))
    return result


def _file(folder: Path, made: dict[str, Any]) -> PreparedFile:
    path = _checked(folder, made.pop("name"), made["bytes"])
    return PreparedFile(path=path, **made)


def _checked(folder: Path, name: str, size: int | None) -> Path:
    """A file that the process says it has made: an ordinary one, in the folder, of that size."""
    path = folder / name
    status = path.lstat()
    fits = status.st_size <= _MAX_RESULT_BYTES if size is None else status.st_size == size
    if path.parent != folder or not stat.S_ISREG(status.st_mode) or not fits:
        raise InvalidValueError(refusal_sentence("costly", {}))
    return path
