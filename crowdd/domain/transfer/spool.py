"""Files that are made faster than they are read: what is made waits on the disk, not in memory."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path

from twisted.internet.defer import Deferred

from crowdd.domain.core import data_folder
from crowdd.errors import CrowddError, UnavailableError

PIECE = 131_072  # bytes that are read at once
_CHECKED_EVERY = 16_000_000  # bytes, after which the free space is looked at again


class AbandonedError(CrowddError):
    """The download was cancelled."""


class Spool:
    """A temporary file with one writer and one reader, who follows as it grows. It has no name and goes by itself."""

    def __init__(self, folder: Path, min_free_bytes: int) -> None:
        self._folder, self._min_free_bytes = folder, min_free_bytes
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self._written = self._checked = 0
        self._ended = False
        self._error: Exception | None = None
        self._waiting: Deferred[None] | None = None

    def write(self, part: bytes) -> None:
        """Appends. Raises AbandonedError when the reader has gone, UnavailableError when the disk is full."""
        if self._file.closed:
            raise AbandonedError("The download was cancelled.")
        if self._written >= self._checked:
            require_space(self._folder, self._min_free_bytes)
            self._checked = self._written + _CHECKED_EVERY
        rest = memoryview(part)
        while rest:
            n = os.pwrite(self._file.fileno(), rest, self._written)
            self._written, rest = self._written + n, rest[n:]
        self._wake()

    def end(self, error: Exception | None = None) -> None:
        """It is whole, or it will never be: the reader gets the error."""
        self._ended, self._error = True, error
        self._wake()

    @property
    def size(self) -> int:
        """Bytes that are written."""
        return self._written

    @property
    def is_whole(self) -> bool:
        """Whether nothing more will be written, and nothing went wrong."""
        return self._ended and self._error is None

    async def part(self, begin: int, end: int) -> AsyncGenerator[bytes, None]:
        """The bytes from ``begin`` to ``end``, which are written. They can be read after ``close``."""
        with os.fdopen(os.dup(self._file.fileno()), "rb", buffering=0) as file:
            while begin < end and (piece := os.pread(file.fileno(), min(PIECE, end - begin), begin)):
                begin += len(piece)
                yield piece

    async def parts(self) -> AsyncGenerator[bytes, None]:
        """What is written, as it comes. Raises what ended it too early."""
        at = 0
        while True:
            if self._error is not None:
                raise self._error
            if at < self._written:
                piece = os.pread(self._file.fileno(), PIECE, at)
                at += len(piece)
                yield piece
            elif self._ended:
                return
            else:
                self._waiting = Deferred()
                await self._waiting

    def close(self) -> None:
        """The reader goes."""
        self._file.close()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.callback(None)


class Spools:
    """Opens spools in a folder, while the disk has room."""

    def __init__(self, folder: Path, min_free_bytes: int) -> None:
        self._folder, self._min_free_bytes = folder, min_free_bytes

    def open(self) -> Spool:
        """A new one. Raises UnavailableError when the disk is full."""
        data_folder.make(self._folder, self._folder.parent)
        require_space(self._folder, self._min_free_bytes)
        return Spool(self._folder, self._min_free_bytes)


def require_space(folder: Path, min_free_bytes: int) -> None:
    """Raises UnavailableError when less is free than must be."""
    if shutil.disk_usage(folder).free < min_free_bytes:
        raise UnavailableError("The disk of the server is nearly full.", retry_after=300)
