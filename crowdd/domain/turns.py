"""Turns for work that few may do at a time, so that it leaves the database to others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from twisted.internet.defer import Deferred, TimeoutError

from crowdd.errors import UnavailableError

T = TypeVar("T")
MAX_WAITING, MAX_WAITING_OF_ONE = 100, 10


class Turns:
    """At most ``most`` calls run at a time, and one for each key; others wait for up to ``seconds``, in their order.

    ``clock`` has ``callLater``.
    """

    def __init__(self, clock: Any, most: int, seconds: float) -> None:
        self._clock, self._most, self._seconds = clock, most, seconds
        self._running: set[str] = set()
        self._waiting: list[tuple[str, Deferred[None]]] = []

    async def run(self, key: str, work: Callable[[], Awaitable[T]]) -> T:
        """What the work gives or raises. Raises UnavailableError when its turn does not come in time."""
        if self._can_run(key):
            self._running.add(key)
        else:
            await self._turn(key)
        try:
            return await work()
        finally:
            self._running.discard(key)
            self._next()

    def _can_run(self, key: str) -> bool:
        return len(self._running) < self._most and key not in self._running

    async def _turn(self, key: str) -> None:
        mine = Counter(each for each, _ in self._waiting)[key]
        if len(self._waiting) >= MAX_WAITING or mine >= MAX_WAITING_OF_ONE:
            raise _busy()
        place: Deferred[None] = Deferred()
        waiting = (key, place)
        self._waiting.append(waiting)
        try:
            await place.addTimeout(self._seconds, self._clock)
        except TimeoutError:
            self._waiting.remove(waiting)
            raise _busy() from None

    def _next(self) -> None:
        """Gives free turns to those who wait; a turn is taken before its call goes on."""
        for waiting in list(self._waiting):
            key, place = waiting
            if self._can_run(key):
                self._waiting.remove(waiting)
                self._running.add(key)
                place.callback(None)


def _busy() -> UnavailableError:
    return UnavailableError("Too many searches that take long are running. Filter by project_id or id.", retry_after=2)
