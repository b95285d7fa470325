"""Return the memory of large requests to the system.

Only glibc has these calls; with other C libraries nothing happens.
"""

from __future__ import annotations

import ctypes
import linecache

from twisted.internet.interfaces import IDelayedCall, IReactorTime

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
