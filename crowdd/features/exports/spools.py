"""Spools on the disk: files made faster than they are read, files kept for a resumed download, and limits on downloads.

A finished file waits a while, so that a download whose connection broke can resume. The limits are on downloads at once
and in a quarter of an hour; owners have counts of their own.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import attrs
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from crowdd.kernel import files as kernel_files
from crowdd.kernel.config.limits import ExportSettings
from crowdd.kernel.errors import CrowddError, TooManyRequestsError
from crowdd.kernel.files import require_space
from crowdd.kernel.languages import _

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
        kernel_files.make_folder(self._folder, self._folder.parent)
        require_space(self._folder, self._min_free_bytes)
        return Spool(self._folder, self._min_free_bytes)


DOWNLOAD_WINDOW = 900  # seconds
_BACK_AFTER = 10  # seconds, until a place may be free
_MAX_KEYS = 100_000  # networks and accounts that are counted by themselves in a window


class DownloadLimits:
    """Of ``max_downloads`` downloads one account or network has half at most. ``clock`` has ``seconds()``."""

    def __init__(self, clock: IReactorTime, settings: ExportSettings) -> None:
        self._clock, self.settings = clock, settings
        self._running: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        self._begun: Counter[str] = Counter()
        self._end = 0.0

    @contextmanager
    def place(self, key: str, *, own: bool) -> Iterator[None]:
        """Holds a place while a file is downloaded by an account (``own``: of an owner) or from a network.

        Raises TooManyRequestsError.
        """
        running = self._running[own]
        if running.total() >= self.settings.max_downloads or running[key] >= max(1, self.settings.max_downloads // 2):
            words = _("Too many files are being downloaded. Try again in %(seconds)s seconds.", seconds=_BACK_AFTER)
            raise TooManyRequestsError(words, code="too_many_downloads", retry_after=_BACK_AFTER)
        if not own:
            self._count(key)
        running[key] += 1
        try:
            yield
        finally:
            running[key] -= 1
            running += Counter()  # forgets those who have none

    def _count(self, network: str) -> None:
        now = self._clock.seconds()
        if now >= self._end:
            self._begun.clear()
            self._end = now + DOWNLOAD_WINDOW
        if len(self._begun) >= _MAX_KEYS and network not in self._begun:
            network = ""  # all further ones together
        wait = max(1, int(self._end - now))
        if self.settings.max_downloads_per_network and self._begun[network] >= self.settings.max_downloads_per_network:
            words = _("Your network has downloaded too many files. Try again in %(seconds)s seconds.", seconds=wait)
            raise TooManyRequestsError(words, code="too_many_downloads", retry_after=wait)
        self._begun[network] += 1


KEPT_SECONDS: Final = 600
MAX_KEPT: Final = 16
MAX_BYTES: Final = 4_000_000_000  # of all together


@attrs.frozen(eq=False)
class KeptSpool:
    """A finished file. ``key`` says what it is and for whom, ``tag`` is its own."""

    key: str
    tag: str
    spool: Spool
    until: float


class KeptSpools:
    """Keeps the last finished files for SECONDS. ``clock`` has ``seconds`` and ``callLater``."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._kept: list[KeptSpool] = []
        self._tick: IDelayedCall | None = None

    def keep(self, key: str, tag: str, spool: Spool) -> None:
        """Keeps a file; an earlier one with this key, and those beyond the limits, go."""
        for each in [each for each in self._kept if each.key == key]:
            self._drop(each)
        self._kept.append(KeptSpool(key, tag, spool, self._clock.seconds() + KEPT_SECONDS))
        while len(self._kept) > MAX_KEPT or sum(each.spool.size for each in self._kept) > MAX_BYTES:
            self._drop(self._kept[0])
        self._plan()

    def find(self, key: str, tag: str = "") -> KeptSpool | None:
        """The file with this key, and with this tag if one is given."""
        return next((each for each in self._kept if each.key == key and tag in ("", each.tag)), None)

    def _plan(self) -> None:
        if self._tick is None and self._kept:
            self._tick = self._clock.callLater(max(0, self._kept[0].until - self._clock.seconds()), self._expire)

    def _expire(self) -> None:
        self._tick = None
        for each in [each for each in self._kept if each.until <= self._clock.seconds()]:
            self._drop(each)
        self._plan()

    def _drop(self, kept_spool: KeptSpool) -> None:
        self._kept.remove(kept_spool)
        kept_spool.spool.close()
