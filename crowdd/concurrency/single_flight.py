"""Callers who want the same thing at the same time share one call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Generic, TypeVar

from twisted.internet.defer import Deferred, ensureDeferred
from twisted.python.failure import Failure

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """At most one call is under way for each key."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, list[Deferred[T]]] = {}

    def __contains__(self, key: Hashable) -> bool:
        """Whether a call for the key is under way."""
        return key in self._waiting

    def run(self, key: Hashable, work: Callable[[], Awaitable[T]]) -> Deferred[T]:
        """The result or failure of the call for this key that is under way, or else of ``work()``.

        Cancelling it ends the waiting of this caller, not the call.
        """
        begins = key not in self._waiting
        place = self.join(key)
        if begins:
            ensureDeferred(self._carry_out(key, work))
        return place

    def join(self, key: Hashable) -> Deferred[T]:
        """The result or failure of the call for this key that is under way."""
        place: Deferred[T] = Deferred(lambda gone: self._leave(key, gone))
        self._waiting.setdefault(key, []).append(place)
        return place

    def _leave(self, key: Hashable, place: Deferred[T]) -> None:
        if place in self._waiting.get(key, []):
            self._waiting[key].remove(place)

    async def _carry_out(self, key: Hashable, work: Callable[[], Awaitable[T]]) -> None:
        outcome: Any
        try:
            outcome = await work()
        except Exception:
            outcome = Failure()
        for place in self._waiting.pop(key):
            place.callback(outcome)
