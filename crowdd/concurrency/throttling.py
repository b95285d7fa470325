"""Work that is asked for often and done seldom."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from crowdd.errors import UnavailableError

log = Logger()


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
