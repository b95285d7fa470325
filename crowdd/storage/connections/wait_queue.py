"""Callers who wait for a connection."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from twisted.internet.defer import Deferred, fail
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from crowdd.errors import NoConnectionError

T = TypeVar("T")


class WaitQueue(Generic[T]):
    """Callers who wait for a thing, first come, first served; ``maximum`` of them, each for at most ``seconds``.

    ``trouble`` says in a sentence why there are none; "" if they are only busy.
    """

    def __init__(
        self, clock: IReactorTime, *, maximum: int, seconds: float, trouble: Callable[[], str] = lambda: ""
    ) -> None:
        self._trouble = trouble
        self._clock, self._maximum, self._seconds = clock, maximum, seconds
        self._timers: OrderedDict[Deferred[T], IDelayedCall] = OrderedDict()

    def __len__(self) -> int:
        return len(self._timers)

    def join(self) -> Deferred[T]:
        """A place in the queue, fires with the thing; NoConnectionError at once when full, else when time is up."""
        if len(self) >= self._maximum:
            return fail(NoConnectionError("Too many requests are waiting for the database.", retry_after=1))
        place: Deferred[T] = Deferred()
        self._timers[place] = self._clock.callLater(self._seconds, self._expire, place)
        return place

    def leave(self, place: Deferred[T], error: Exception) -> None:
        """Fails the place with ``error``; without effect on one that was served or has left."""
        timer = self._timers.pop(place, None)
        if timer is not None:
            timer.cancel()
            place.errback(error)

    def serve(self, thing: T) -> None:
        """Gives the thing to the first in the queue."""
        place, timer = self._timers.popitem(last=False)
        timer.cancel()
        place.callback(thing)

    def dismiss(self, message: str) -> None:
        """Sends everybody away with NoConnectionError."""
        for place in [*self._timers]:
            self.leave(place, NoConnectionError(message))

    def _expire(self, place: Deferred[T]) -> None:
        del self._timers[place]
        words = self._trouble() or f"No database connection became free within {self._seconds:g} seconds."
        place.errback(NoConnectionError(words))
