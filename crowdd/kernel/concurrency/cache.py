"""Caches of values for some seconds or one version, and calls that callers share.

``CachedValue`` and ``ExpiringCache`` keep values and keys for some seconds. A ``VersionedCache`` value is also good for
one version only of what it is made of, and a ``FreshCache`` value is never older than the question. Callers of a
``SingleFlight`` share one call; callers of a ``FreshFlight`` share one that began after each of them had asked.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from typing import Any, Generic, TypeVar

import attrs
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.python.failure import Failure

T = TypeVar("T")


Work = Callable[[], Awaitable[T]]


class FreshFlight(Generic[T]):
    """At most one call is under way for each key. Who asks meanwhile waits for the next one.

    So no result is older than the question. A call begins in the next turn of the reactor, so that all who ask in one
    turn share it. ``clock`` has ``callLater``.
    """

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._waiting: dict[Hashable, tuple[Work[T], list[Deferred[T]]]] = {}
        self._under_way: set[Hashable] = set()

    def run(self, key: Hashable, work: Work[T]) -> Deferred[T]:
        """The result or failure of a call of ``work``, or of that of another caller with an equal key.

        Cancelling it ends the waiting of this caller, not the call.
        """
        place: Deferred[T] = Deferred()
        self._waiting.setdefault(key, (work, []))[1].append(place)
        if key not in self._under_way:
            self._under_way.add(key)
            self._clock.callLater(0, self._begin, key)
        return place

    def _begin(self, key: Hashable) -> None:
        if key in self._waiting:
            ensureDeferred(self._carry_out(key, *self._waiting.pop(key)))
        else:
            self._under_way.discard(key)

    async def _carry_out(self, key: Hashable, work: Work[T], places: list[Deferred[T]]) -> None:
        outcome: T | Failure
        try:
            outcome = await work()
        except Exception:
            outcome = Failure()
        self._begin(key)  # first, so that the database works while the answers are written
        for place in places:
            place.callback(outcome)


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


class ExpiringCache:
    """Each key is in it until ``seconds`` after it was last added, or until ``max_size`` others were added.

    ``clock`` has ``seconds``.
    """

    def __init__(self, clock: IReactorTime, seconds: float, max_size: int) -> None:
        self._clock, self._seconds, self._max_size = clock, seconds, max_size
        self._until: dict[Hashable, float] = {}

    def add(self, key: Hashable) -> None:
        """Remember a key from now on."""
        self._until.pop(key, None)  # the oldest stays first
        while len(self._until) >= self._max_size:
            del self._until[next(iter(self._until))]
        self._until[key] = self._clock.seconds() + self._seconds

    def __contains__(self, key: Hashable) -> bool:
        return bool(self._until) and self._until.get(key, 0.0) > self._clock.seconds()
