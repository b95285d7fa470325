"""A value that costs something to find and is good for some seconds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from twisted.internet.interfaces import IReactorTime

from crowdd.concurrency.single_flight import SingleFlight

T = TypeVar("T")


class CachedValue(Generic[T]):
    """What ``load()`` gave, until it is ``seconds`` old. Callers who come while it is loaded wait for the same call.

    A failure is not kept. ``clock`` has ``seconds``.
    """

    def __init__(self, clock: IReactorTime, seconds: float, load: Callable[[], Awaitable[T]]) -> None:
        self._clock, self._seconds, self._load = clock, seconds, load
        self._loading: SingleFlight[T] = SingleFlight()
        self._kept: tuple[float, T] | None = None

    async def get(self) -> T:
        """The value, loaded if it is missing or too old. Raises what ``load`` raises."""
        if self._kept is not None and self._clock.seconds() < self._kept[0] + self._seconds:
            return self._kept[1]
        return await self._loading.run(None, self._renew)

    async def _renew(self) -> T:
        value = await self._load()
        self._kept = (self._clock.seconds(), value)
        return value
