"""Look again and again, one look after the other."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from twisted.internet.defer import Deferred, ensureDeferred


class PollLoop:
    """Calls ``poll`` again and again between ``start`` and ``stop``, never twice at once.

    ``poll`` deals with its own failures. After each call, ``pause`` says in how many seconds the next one comes, unless
    ``plan`` asks for an earlier one. ``clock`` has ``seconds`` and ``callLater``.
    """

    def __init__(self, clock: Any, poll: Callable[[], Coroutine[Any, Any, None]], pause: Callable[[], float]) -> None:
        self._clock, self._poll, self._pause = clock, poll, pause
        self._planned: Any = None
        self._under_way: Deferred[None] | None = None
        self._running = False

    def start(self) -> None:
        """Begin with a look at once."""
        self._running = True
        self.plan(0)

    async def stop(self) -> None:
        """Begin no look any more; return when the one under way has ended."""
        self._running = False
        if self._planned is not None:
            self._planned.cancel()
            self._planned = None
        if self._under_way is not None:
            await self._under_way

    def plan(self, seconds: float) -> None:
        """Look in so many seconds at the latest; while a look is under way, ``pause`` decides."""
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

    def _ended(self, result: Any, done: Deferred[None]) -> None:
        self._under_way = None
        self.plan(self._pause())
        done.callback(None)
