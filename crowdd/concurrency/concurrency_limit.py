"""Turns for work that few may do at a time, so that it leaves the server and the database to others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TypeVar

from twisted.internet.defer import CancelledError, Deferred, TimeoutError
from twisted.internet.interfaces import IReactorTime

from crowdd.errors import UnavailableError

T = TypeVar("T")
MAX_WAITING, MAX_WAITING_OF_ONE = 100, 10


class Turns:
    """At most ``max_running`` calls run at a time, and one for each key; others wait for up to ``seconds``, in order.

    With ``seconds=None`` any number of calls waits, however long.

    After a call its turn rests for ``rest`` times as long as the call took. ``clock`` has ``seconds``, ``callLater``.
    """

    def __init__(
        self,
        clock: IReactorTime,
        max_running: int,
        seconds: float | None,
        *,
        rest: float = 0.0,
        max_waiting_of_one: int = MAX_WAITING_OF_ONE,
        refusal: str = "Too many slow searches are running. Filter by project_id or id.",
    ) -> None:
        """``refusal``: what is said when a turn does not come in time or too many wait."""
        self._clock, self._max_running, self._seconds, self._rest = clock, max_running, seconds, rest
        self._max_waiting_of_one, self._refusal = max_waiting_of_one, refusal
        self._running: set[str] = set()
        self._waiting: list[tuple[str, Deferred[None]]] = []
        self._serving = False

    async def run(self, key: str, work: Callable[[], Awaitable[T]]) -> T:
        """What the work gives or raises. Raises UnavailableError when its turn does not come in time."""
        if self._can_run(key):
            self._running.add(key)
        else:
            await self._turn(key)
        began = self._clock.seconds()
        try:
            return await work()
        finally:
            rest = self._rest * (self._clock.seconds() - began)
            if rest > 0:
                self._clock.callLater(rest, self._end, key)
            else:
                self._end(key)

    def _can_run(self, key: str) -> bool:
        return len(self._running) < self._max_running and key not in self._running

    async def _turn(self, key: str) -> None:
        if self._seconds is not None and self._is_full(key):
            raise self._busy()
        place: Deferred[None] = Deferred()
        waiting = (key, place)
        self._waiting.append(waiting)
        try:
            await (place if self._seconds is None else place.addTimeout(self._seconds, self._clock))
        except TimeoutError:
            self._waiting.remove(waiting)
            raise self._busy() from None
        except CancelledError:
            self._waiting.remove(waiting)
            raise

    def _is_full(self, key: str) -> bool:
        mine = Counter(each for each, _ in self._waiting)[key]
        return len(self._waiting) >= MAX_WAITING or mine >= self._max_waiting_of_one

    def _end(self, key: str) -> None:
        """Gives the turn to those who wait; it is taken before their call goes on."""
        self._running.discard(key)
        if self._serving:  # by a call that ended as soon as it began: the loop below goes on
            return
        self._serving = True
        try:
            while waiting := next((each for each in self._waiting if self._can_run(each[0])), None):
                self._waiting.remove(waiting)
                self._running.add(waiting[0])
                waiting[1].callback(None)
        finally:
            self._serving = False

    def _busy(self) -> UnavailableError:
        return UnavailableError(self._refusal, retry_after=2)
