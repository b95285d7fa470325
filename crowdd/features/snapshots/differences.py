"""What differs between two snapshots: worked out once by a process, and kept a while as a file."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Final

import attrs
import orjson
from twisted.internet.defer import DeferredSemaphore

from crowdd.features.media.store import MediaStore
from crowdd.features.snapshots import difference_program, zip_stream
from crowdd.features.snapshots.comparing import TABLES
from crowdd.features.snapshots.rows import SnapshotFile, SnapshotRow
from crowdd.features.snapshots.tables import IDENTIFIERS
from crowdd.kernel import files as kernel_files
from crowdd.kernel.concurrency import isolated
from crowdd.kernel.concurrency.cache import Flight
from crowdd.kernel.concurrency.isolated import LimitError
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import InvalidValueError, UnavailableError
from crowdd.kernel.files import owned_folder, require_space
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

MAX_KEPT: Final = 20
MAX_KEPT_BYTES: Final = 2_000_000_000
"""Of all files that are kept. The oldest go first; they can be worked out again."""
_SENT_PIECE: Final = 1 << 17
_MAX_WAITING: Final = 10
_WORK: Final = "work"
_PROGRAM: Final = "crowdd.features.snapshots.difference_program:compare"
_READ: Final = ("project.json", IDENTIFIERS, *TABLES.values())


@attrs.frozen
class Difference:
    """``summary``: ``counts`` by kind and change, ``settings`` and ``documents``. ``path``: the file with all changes.

    ``etag`` has its quotes.
    """

    summary: Values
    path: Path
    etag: str

    async def pieces(self, begin: int, end: int) -> AsyncGenerator[bytes, None]:
        """These bytes of the file."""
        with self.path.open("rb") as file:
            file.seek(begin)
            while begin < end and (piece := file.read(min(_SENT_PIECE, end - begin))):
                begin += len(piece)
                yield piece


@attrs.frozen
class Side:
    """A snapshot with its files."""

    row: SnapshotRow
    files: Sequence[SnapshotFile]


class Differences:
    """``folder``: where the files are. One comparison is made at a time."""

    def __init__(self, store: MediaStore, worker_thread: WorkerThread, folder: Path, min_free_bytes: int) -> None:
        self._store, self._worker_thread = store, worker_thread
        self._folder, self._min_free_bytes = folder, min_free_bytes
        self._made: Flight[None] = Flight()
        self._one = DeferredSemaphore(1)

    async def of(self, before: Side, after: Side, withdrawn: Sequence[str]) -> Difference:
        """What differs. ``withdrawn``: codes of volunteers that are not told any more.

        Raises InvalidValueError where it takes too much memory or time, UnavailableError, MediaStoreError,
        NotFoundError where a file is missing.
        """
        name = _name(before, after, withdrawn)
        if not self._summary(name).exists():
            if len(self._one.waiting) >= _MAX_WAITING:
                raise UnavailableError(
                    _("Too many snapshots are being compared. Try again in a moment."), retry_after=10
                )
            await self._made.run(name, lambda: self._one.run(self._make, name, before, after, withdrawn))
        self._summary(name).touch()
        return Difference(orjson.loads(self._summary(name).read_bytes()), self._lines(name), f'"{name}"')

    def _summary(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _lines(self, name: str) -> Path:
        return self._folder / f"{name}.ndjson"

    async def _make(self, name: str, before: Side, after: Side, withdrawn: Sequence[str]) -> None:
        kernel_files.make_folder(self._folder, self._folder.parent)
        kernel_files.make_folder(self._folder / _WORK, self._folder.parent)
        self._remove_oldest()
        with owned_folder(self._folder / _WORK, "") as work:
            about = {
                difference_program.BEFORE_FOLDER: _documents(before),
                difference_program.AFTER_FOLDER: _documents(after),
                "withdrawn": [*withdrawn],
            }
            (work / difference_program.ABOUT_FILE).write_bytes(orjson.dumps(about))
            await self._fetch(before, work / difference_program.BEFORE_FOLDER)
            await self._fetch(after, work / difference_program.AFTER_FOLDER)
            await self._run(work)
            (work / difference_program.CHANGES_FILE).replace(self._lines(name))
            (work / difference_program.SUMMARY_FILE).replace(self._summary(name))  # last: where it is, the other one is

    async def _fetch(self, side: Side, folder: Path) -> None:
        folder.mkdir()
        for file in side.files:
            if file["name"] in _READ:
                require_space(self._folder, self._min_free_bytes)
                with (folder / file["name"]).open("wb") as copy:
                    async for piece in zip_stream.read_deflated(self._store, file):
                        await self._worker_thread.do_soon(copy.write, piece)

    async def _run(self, work: Path) -> None:
        async def look() -> None:
            require_space(self._folder, self._min_free_bytes)

        try:
            await isolated.start(_PROGRAM, str(work)).finish(self._worker_thread, look)
        except LimitError:
            raise InvalidValueError(_("Comparing these snapshots takes too much memory or time.")) from None

    def _remove_oldest(self) -> None:
        """Removes the oldest files beyond the limits."""
        size = 0
        newest = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        for n, path in enumerate(newest, 1):
            lines = self._lines(path.stem)
            size += lines.stat().st_size if lines.exists() else 0
            if n >= MAX_KEPT or size > MAX_KEPT_BYTES:
                path.unlink()
                lines.unlink(missing_ok=True)


def _name(before: Side, after: Side, withdrawn: Sequence[str]) -> str:
    """Says which snapshots, by their hashes, and who has withdrawn: the files are the same as long as this is."""
    of = orjson.dumps([before.row["project_id"], before.row["hash"], after.row["hash"], sorted(withdrawn)])
    return hashlib.sha256(of).hexdigest()[:40]


def _documents(side: Side) -> dict[str, str]:
    """The hashes of the documents of the content by their names."""
    return {f["name"]: f["sha256"] for f in side.files if f["content"] and not f["name"].endswith(".ndjson")}
