"""Poll loops, growing pauses after failures, deadlines, and work that ends though nobody waits for it any more."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from twisted.internet.defer import CancelledError, Deferred, ensureDeferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger, LogLevel
from twisted.python.failure import Failure

T = TypeVar("T")
log = Logger()


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


_MAX_STEPS = 100  # a larger exponent could overflow


def back_off(failures: int, first: float, growth: float, longest: float) -> float:
    """Seconds to wait after so many failures in a row: ``first``, then ``growth`` times as long, up to ``longest``."""
    return min(longest, first * growth ** min(max(failures - 1, 0), _MAX_STEPS))


@contextmanager
def deadline(clock: IReactorTime, seconds: float, expired: Callable[..., object], *arguments: object) -> Iterator[Any]:
    """Call ``expired(*arguments)`` if the block takes longer than ``seconds``. ``clock`` has ``callLater``.

    The block goes on: ``expired`` makes it end, for example by cancelling what it waits for. The block gets the timer,
    which is ``active()`` until the time is over.
    """
    timer = clock.callLater(seconds, expired, *arguments)
    try:
        yield timer
    finally:
        if timer.active():
            timer.cancel()


def shield(running: Deferred[T], withdraw: Callable[[], None] = lambda: None) -> Deferred[T]:
    """Return a Deferred that follows ``running`` and whose cancellation does not reach it.

    ``withdraw`` is called on cancellation and may take back what has not begun. A failure after the cancellation is
    logged.
    """
    outer: Deferred[T] = Deferred(lambda _: withdraw())

    def passed(result: T) -> None:
        if not outer.called:
            outer.callback(result)

    def failed(failure: Failure) -> None:
        if not outer.called:
            outer.errback(failure)
        elif not failure.check(CancelledError):
            log.failure("operation failed after its caller was cancelled", failure, LogLevel.warn)

    running.addCallbacks(passed, failed)
    return outer
