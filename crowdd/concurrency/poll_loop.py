"""Poll the database again and again. The next poll is at the earliest time that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Coroutine

from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.python.failure import Failure


class PollLoop:
    """Calls ``poll`` again and again between ``start`` and ``stop``, never twice at once.

    ``poll`` handles its own failures. After each poll, ``pause`` returns the seconds until the next one. ``plan`` can
    bring that forward.
    """

    def __init__(
        self,
        clock: IReactorTime,
        poll: Callable[[], Coroutine[Deferred[object], object, None]],
        pause: Callable[[], float],
    ) -> None:
        self._clock, self._poll, self._pause = clock, poll, pause
        self._planned: IDelayedCall | None = None
        self._under_way: Deferred[None] | None = None
        self._running = False

    def start(self, seconds: float = 0) -> None:
        """Poll in so many seconds, and from now on."""
        self._running = True
        self.plan(seconds)

    async def stop(self) -> None:
        """Begin no more polls. Returns when the running one has ended."""
        self._running = False
        if self._planned is not None:
            self._planned.cancel()
            self._planned = None
        if self._under_way is not None:
            await self._under_way

    def plan(self, seconds: float) -> None:
        """Poll in so many seconds at the latest. While a poll is running, only ``pause`` counts."""
        if not self._running or self._under_way is not None:
            return
        if self._planned is None:
            self._planned = self._clock.callLater(seconds, self._begin)
        elif self._planned.getTime() > self._clock.seconds() + seconds:
            self._planned.reset(seconds)

    def _begin(self) -> None:
        self._planned = None
        self._under_way = done = Deferred[None]()
        ensureDeferred(self._poll()).addBoth(self._ended, done)

    def _ended(self, result: Failure | None, done: Deferred[None]) -> None:
        self._under_way = None
        self.plan(self._pause())
        done.callback(None)
