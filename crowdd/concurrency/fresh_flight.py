"""Callers who want the same thing at the same time share a call that began after each of them had asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.python.failure import Failure

T = TypeVar("T")
Work = Callable[[], Awaitable[T]]


class FreshFlight(Generic[T]):
    """At most one call is under way for each key. Who asks meanwhile waits for the next one.

    So no result is older than the question. A call begins in the next turn of the reactor, so that all who ask in one
    turn share it. ``clock`` has ``callLater``.
    """

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._waiting: dict[Hashable, tuple[Work[T], list[Deferred[T]]]] = {}
        self._under_way: set[Hashable] = set()

    def run(self, key: Hashable, work: Work[T]) -> Deferred[T]:
        """The result or failure of a call of ``work``, or of that of another caller with an equal key.

        Cancelling it ends the waiting of this caller, not the call.
        """
        place: Deferred[T] = Deferred()
        self._waiting.setdefault(key, (work, []))[1].append(place)
        if key not in self._under_way:
            self._under_way.add(key)
            self._clock.callLater(0, self._begin, key)
        return place

    def _begin(self, key: Hashable) -> None:
        if key in self._waiting:
            ensureDeferred(self._carry_out(key, *self._waiting.pop(key)))
        else:
            self._under_way.discard(key)

    async def _carry_out(self, key: Hashable, work: Work[T], places: list[Deferred[T]]) -> None:
        outcome: T | Failure
        try:
            outcome = await work()
        except Exception:
            outcome = Failure()
        self._begin(key)  # first, so that the database works while the answers are written
        for place in places:
            place.callback(outcome)
