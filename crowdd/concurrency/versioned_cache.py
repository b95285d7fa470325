"""Values that many want at the same time, good for some seconds and for one version of what they are made of."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from typing import Generic, TypeVar

import attrs
from twisted.internet.interfaces import IReactorTime

from crowdd.concurrency.single_flight import SingleFlight

T = TypeVar("T")


@attrs.frozen
class _Entry(Generic[T]):
    value: T
    version: Hashable
    until: float
    size: int


class VersionedCache(Generic[T]):
    """A value is good until ``seconds`` after it began to be made, for callers who know the same version.

    Callers who come in that time while it is made wait for the same call. At most ``max_size`` in all stays, by
    ``size_of`` the values: those that were asked for last. ``clock`` has ``seconds``.
    """

    def __init__(self, clock: IReactorTime, seconds: float, max_size: int, size_of: Callable[[T], int]) -> None:
        self._clock, self._seconds, self._max_size, self._size_of = clock, seconds, max_size, size_of
        self._entries: OrderedDict[Hashable, _Entry[T]] = OrderedDict()
        self._making: SingleFlight[T | None] = SingleFlight()
        self._begun: dict[Hashable, float] = {}
        self.size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: Hashable, version: Hashable) -> T | None:
        """The value that is kept and good, or None."""
        entry = self._entries.get(key)
        if entry is None or entry.version != version or self._clock.seconds() >= entry.until:
            return None
        self._entries.move_to_end(key)
        return entry.value

    async def make(self, key: Hashable, version: Hashable, work: Callable[[], Awaitable[T | None]]) -> T | None:
        """What ``work`` makes, which is kept unless it is None. Raises what ``work`` raises.

        ``version`` was known before.
        """
        now, flight = self._clock.seconds(), (key, version)
        if flight in self._making and now >= self._begun[flight] + self._seconds:
            return await work()  # what is being made began too long ago
        if flight not in self._making:
            self._begun[flight] = now
        return await self._making.run(flight, partial(self._made, key, version, work))

    async def _made(self, key: Hashable, version: Hashable, work: Callable[[], Awaitable[T | None]]) -> T | None:
        began = self._begun[key, version]
        try:
            value = await work()
        finally:
            del self._begun[key, version]
        if value is not None:
            self._keep(key, _Entry(value, version, began + self._seconds, self._size_of(value)))
        return value

    def _keep(self, key: Hashable, entry: _Entry[T]) -> None:
        old = self._entries.pop(key, None)
        self.size += entry.size - (old.size if old else 0)
        self._entries[key] = entry
        while self.size > self._max_size:
            _, gone = self._entries.popitem(last=False)
            self.size -= gone.size
