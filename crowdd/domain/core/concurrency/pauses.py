"""Long work in short steps that leaves room for others: one step at a time, and a pause after each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from twisted.internet.defer import DeferredSemaphore

T = TypeVar("T")


class Pauses:
    """``run`` takes turns: of all that want a step one has it, in the order in which they asked.

    After a step nobody has one for ``share`` times its length. ``clock`` has ``seconds`` and ``callLater``.
    """

    def __init__(self, clock: Any, share: float) -> None:
        self._clock, self._share = clock, share
        self._turn = DeferredSemaphore(1)

    async def run(self, step: Callable[[], Awaitable[T]]) -> T:
        """What the step gives or raises."""
        await self._turn.acquire()
        began = self._clock.seconds()
        try:
            return await step()
        finally:
            pause = self._share * (self._clock.seconds() - began)
            self._clock.callLater(max(0.0, pause), self._turn.release)
