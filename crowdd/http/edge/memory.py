"""Memory for the bodies of requests with parts of files, and its return to the system.

Twisted writes a body of more than 100,000 bytes to a temporary file. To create, write and remove one holds the reactor
up while the disk is busy, as it is when files arrive: others would wait for their tasks. Only glibc has the calls that
return memory; with other C libraries nothing happens.
"""

from __future__ import annotations

import ctypes
import linecache
from typing import Final

import attrs
from twisted.internet.interfaces import IDelayedCall, IReactorTime

MAX_BYTES: Final = 32_000_000


@attrs.define
class BodyMemory:
    """``left`` bytes can be had. Bodies for which there is no room go to temporary files."""

    left: int = MAX_BYTES

    def take(self, length: int | None) -> int:
        """The bytes that a body of this length has got: all of them, or 0."""
        if length is None or length > self.left:
            return 0
        self.left -= length
        return length

    def give_back(self, length: int) -> None:
        """The body is not needed any more."""
        self.left += length


LARGE = 1_000_000  # bytes of a body or a response
PAUSE_SECONDS = 1.0
_ARENA_MAX, _MMAP_THRESHOLD = -8, -3  # of mallopt(3)
_ARENAS, _MIN_MAPPED = 2, 131_072  # bytes


def keep_little() -> None:
    """Have glibc use two heaps instead of one for nearly every thread, and map large blocks on their own.

    By default it raises the size from which it maps a block to that of the largest one freed. The next bodies then lie
    in a heap that never shrinks. Call it before threads start.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(_ARENA_MAX, _ARENAS)
        set_option(_MMAP_THRESHOLD, _MIN_MAPPED)


def forget_generated_sources() -> None:
    """Drop the texts of the methods that attrs has generated: tracebacks then show their names only.

    They are a hundredth of the memory of a server, and grow with each class.
    """
    for name in [name for name in linecache.cache if name.startswith("<attrs generated ")]:
        del linecache.cache[name]


def trim() -> None:
    """Have glibc return free memory, in however many places it lies."""
    function = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if function is not None:
        function(0)


class Trimmer:
    """Has glibc return free memory soon after a large request. Several requests at a time take one call.

    glibc keeps what was freed below its highest allocation. Other C libraries have no such call, and nothing happens.
    """

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._planned: IDelayedCall | None = None

    def after(self, size: int) -> None:
        """A request of this size has been answered."""
        if size >= LARGE and self._planned is None:
            self._planned = self._clock.callLater(PAUSE_SECONDS, self._now)

    def stop(self) -> None:
        """Cancel the planned call."""
        if self._planned is not None:
            self._planned.cancel()
            self._planned = None

    def _now(self) -> None:
        self._planned = None
        trim()
