"""Limit work: ``Turns`` lets few callers in at a time, ``Throttled`` does what is asked for often only seldom.

Both leave the server and the database to others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from twisted.internet.defer import CancelledError, Deferred, TimeoutError, ensureDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from crowdd.kernel.errors import UnavailableError

T = TypeVar("T")
log = Logger()


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
        refusal: str = "Too many slow lists are being read. Filter by project_id or id, or ask for fewer rows (limit).",
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


class Throttled:
    """Does ``work`` when it is asked to: begun at most once per ``pause``, never twice at a time, and once more when it
    was asked meanwhile. Work that fails is done again after a pause.

    ``every``: also without being asked, so many seconds after it last began; it must have been asked once.
    """

    def __init__(
        self, clock: IReactorTime, work: Callable[[], Awaitable[Any]], pause: float, every: float | None = None
    ) -> None:
        self._clock, self._work, self._pause, self._every = clock, work, pause, every
        self._begun = -pause
        self._asked = self._stopped = False
        self._running: Deferred[None] | None = None
        self._call: Any = None

    def ask(self) -> None:
        """Has the work done, now or after the pause."""
        self._asked = True
        self._plan()

    @property
    def due(self) -> bool:
        """Whether it was asked for and is not done since."""
        return self._asked or self._running is not None

    def stop(self) -> None:
        """No more work is begun."""
        self._stopped = True
        self._forget_call()

    async def flush(self) -> None:
        """Do what was asked for now, once, without a pause; return when it is done.

        Work that fails, or is asked for meanwhile, is left for the next ``ask``.
        """
        stopped, self._stopped = self._stopped, True  # nothing is planned meanwhile
        self._forget_call()
        if self._running is not None:
            await self._running
        if self._asked:
            self._begin()
        if self._running is not None:
            await self._running
        self._stopped = stopped

    def _forget_call(self) -> None:
        if self._call is not None:
            self._call.cancel()
            self._call = None

    def _plan(self) -> None:
        wait = self._pause if self._asked else self._every
        if self._stopped or self._running is not None or wait is None:
            return
        wait = max(0, self._begun + wait - self._clock.seconds())
        if self._call is None:
            self._call = self._clock.callLater(wait, self._begin)
        elif self._call.getTime() > self._clock.seconds() + wait:
            self._call.reset(wait)

    def _begin(self) -> None:
        self._call, self._asked = None, False
        self._begun = self._clock.seconds()
        self._running = running = Deferred[None]()
        ensureDeferred(self._do()).addErrback(self._failed).addBoth(self._ended, running)

    async def _do(self) -> None:
        await self._work()

    def _failed(self, failure: Failure) -> None:
        self._asked = True
        if not failure.check(UnavailableError):
            log.failure("throttled call failed, retrying", failure)

    def _ended(self, _: object, running: Deferred[None]) -> None:
        self._running = None
        self._plan()
        running.callback(None)
