"""Values that many want at the same time, good for some seconds and for one version of what they are made of.

A ``FreshCache`` is for values that must never be older than the question.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from typing import Generic, TypeVar

import attrs
from twisted.internet.interfaces import IReactorTime

from crowdd.concurrency.fresh_flight import FreshFlight
from crowdd.concurrency.single_flight import SingleFlight

T = TypeVar("T")
_EARLY = 0.2  # of the seconds that a value is good: one caller makes it again in the last fifth


@attrs.define
class _Entry(Generic[T]):
    value: T
    version: Hashable
    until: float
    size: int
    renewed: bool = False  # somebody makes the next one


class VersionedCache(Generic[T]):
    """A value is good until ``seconds`` after it began to be made, for callers who know the same version.

    Callers who come in that time while it is made wait for the same call. One of those who come shortly before its end
    makes the next one, and the others get the present one, so that not all of them wait. At most ``max_size`` in all
    stays, by ``size_of`` the values: those that were asked for last. ``clock`` has ``seconds``.
    """

    def __init__(self, clock: IReactorTime, seconds: float, max_size: int, size_of: Callable[[T], int]) -> None:
        self._clock, self._seconds, self._max_size, self._size_of = clock, seconds, max_size, size_of
        self._entries: OrderedDict[Hashable, _Entry[T]] = OrderedDict()
        self._making: SingleFlight[T | None] = SingleFlight()
        self._begun: dict[tuple[Hashable, Hashable], float] = {}
        self.size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: Hashable, version: Hashable) -> T | None:
        """The value that is kept and good, or None: this caller has it made."""
        entry, now = self._entries.get(key), self._clock.seconds()
        if entry is None or not self._is_good(entry, version, now):
            return None
        if self._is_due(entry, now):
            entry.renewed = True
            return None
        self._entries.move_to_end(key)
        return entry.value

    def peek(self, key: Hashable, version: Hashable) -> T | None:
        """The value that is kept and good, unless somebody has to make the next one: who gets None need not."""
        entry, now = self._entries.get(key), self._clock.seconds()
        if entry is None or not self._is_good(entry, version, now) or self._is_due(entry, now):
            return None
        self._entries.move_to_end(key)
        return entry.value

    def _is_good(self, entry: _Entry[T], version: Hashable, now: float) -> bool:
        return entry.version == version and now < entry.until

    def _is_due(self, entry: _Entry[T], now: float) -> bool:
        return now >= entry.until - _EARLY * self._seconds and not entry.renewed

    async def make(self, key: Hashable, version: Hashable, work: Callable[[], Awaitable[T | None]]) -> T | None:
        """What ``work`` makes, which is kept unless it is None. Raises what ``work`` raises.

        ``version`` was known before. However long ``work`` takes, it begins once in ``seconds``.
        """
        now, wanted = self._clock.seconds(), (key, version)
        began = self._begun.get(wanted)
        if began is None or now >= began + self._seconds:
            began = self._begun[wanted] = now
        return await self._making.run((wanted, began), partial(self._made, key, version, began, work))

    async def _made(
        self, key: Hashable, version: Hashable, began: float, work: Callable[[], Awaitable[T | None]]
    ) -> T | None:
        try:
            value = await work()
        finally:
            if self._begun.get((key, version)) == began:
                del self._begun[key, version]
        if value is not None:
            self._keep(key, _Entry(value, version, began + self._seconds, self._size_of(value)))
        return value

    def _keep(self, key: Hashable, entry: _Entry[T]) -> None:
        old = self._entries.get(key)
        if entry.size > self._max_size or (old is not None and old.until > entry.until):
            return
        self.size += entry.size - (old.size if old else 0)
        self._entries[key] = entry
        self._entries.move_to_end(key)
        while self.size > self._max_size:
            _, gone = self._entries.popitem(last=False)
            self.size -= gone.size


class FreshCache(Generic[T]):
    """Values as they are when they are asked for: one that is kept is good only for the version of the question.

    The version has to change with everything that the values are made of. Where it changes all the time, a value is
    made for all who ask meanwhile (``FreshFlight``), as if nothing was kept. ``clock`` has ``callLater``.
    """

    def __init__(self, clock: IReactorTime, cache: VersionedCache[T]) -> None:
        self._cache = cache
        self._flight: FreshFlight[T | None] = FreshFlight(clock)

    async def get(self, key: Hashable, version: Hashable, work: Callable[[], Awaitable[T | None]]) -> T | None:
        """The value, which is kept unless it is None. Raises what ``work`` raises.

        ``version`` was read after the question; None: nobody knows it.
        """
        if version is None:
            return await self._flight.run(key, work)
        value = self._cache.find(key, version)
        if value is not None:
            return value
        return await self._flight.run(key, partial(self._cache.make, key, version, work))
