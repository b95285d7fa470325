"""Values that are kept for some seconds, for one version, or as new as the question; and calls that callers share.

Callers of a ``Flight`` share one call; callers of a ``FreshFlight`` share one that began after each of them had asked.
A ``Cache`` keeps what such a call gave.
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
        outcome = await _outcome(work)
        self._begin(key)  # first, so that the database works while the answers are written
        for place in places:
            place.callback(outcome)


class Flight(Generic[T]):
    """At most one call is under way for each key."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, list[Deferred[T]]] = {}

    def __contains__(self, key: Hashable) -> bool:
        """Whether a call for the key is under way."""
        return key in self._waiting

    def run(self, key: Hashable, work: Work[T]) -> Deferred[T]:
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
        place: Deferred[T] = Deferred()
        self._waiting.setdefault(key, []).append(place)
        return place

    async def _carry_out(self, key: Hashable, work: Work[T]) -> None:
        outcome = await _outcome(work)
        for place in self._waiting.pop(key):
            place.callback(outcome)


async def _outcome(work: Work[T]) -> T | Failure:
    try:
        return await work()
    except Exception:
        return Failure()


_EARLY = 0.2  # of the seconds that a value is good: one caller makes it again in the last fifth


@attrs.define
class _Entry(Generic[T]):
    value: T
    version: Hashable
    until: float
    size: int
    renewed: bool = False  # somebody makes the next one


class Cache(Generic[T]):
    """Keeps values for ``seconds``; within ``max_size`` by ``size_of``, those that were put or asked for last.

    A value of a version is good from when it began to be made, for callers who know the same version. One of those who
    come shortly before its end makes the next one, and the others get the present one, so that not all of them wait.
    One without a version is good from when it was ready or put. ``clock`` has ``seconds`` and ``callLater``.
    """

    def __init__(
        self, clock: IReactorTime, seconds: float, max_size: int = 1, size_of: Callable[[Any], int] = lambda _: 1
    ) -> None:
        self._clock, self._seconds, self._max_size, self._size_of = clock, seconds, max_size, size_of
        self._entries: OrderedDict[Hashable, _Entry[T]] = OrderedDict()
        self._making: Flight[T] = Flight()
        self._fresh: FreshFlight[T] = FreshFlight(clock)
        self._begun: dict[tuple[Hashable, Hashable], float] = {}
        self.size = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: Hashable) -> bool:
        """Whether a value without a version is kept and good."""
        return self._good(key, None) is not None

    def put(self, key: Hashable, value: T) -> None:
        """Keeps a value without a version from now on."""
        self._keep(key, value, None, self._clock.seconds())

    def peek(self, key: Hashable, version: Hashable = None) -> T | None:
        """The value that is kept and good, unless somebody has to make the next one: who gets None need not."""
        entry = self._good(key, version)
        if entry is None or self._is_due(entry):
            return None
        self._entries.move_to_end(key)
        return entry.value

    async def get(self, key: Hashable, make: Work[T], version: Hashable = None, *, fresh: bool = False) -> T:
        """The value that is kept and good, or else what ``make`` gives, which is kept unless it is None.

        Callers who come while it is made wait for the same call. Raises what ``make`` raises.

        With ``fresh``, no value is older than the question. ``version`` was read after that, and changes with
        everything that values are made of. Where it changes all the time, or nobody knows it (None), a value is made
        for all who ask meanwhile (``FreshFlight``), as if nothing was kept.
        """
        value = self.peek(key, version)
        if value is not None:
            return value
        entry = self._good(key, version)
        if entry is not None:
            entry.renewed = True
        if not fresh:
            return await self._make(key, make, version)
        return await self._fresh.run(key, make if version is None else partial(self._make, key, make, version))

    def _good(self, key: Hashable, version: Hashable) -> _Entry[T] | None:
        entry = self._entries.get(key)
        good = entry is not None and entry.version == version and self._clock.seconds() < entry.until
        return entry if good else None

    def _is_due(self, entry: _Entry[T]) -> bool:
        early = entry.version is not None and not entry.renewed
        return early and self._clock.seconds() >= entry.until - _EARLY * self._seconds

    async def _make(self, key: Hashable, make: Work[T], version: Hashable) -> T:
        """What ``make`` gives. However long it takes, it begins once in ``seconds`` for a version."""
        now, wanted = self._clock.seconds(), (key, version)
        began = self._begun.get(wanted)
        if began is None or (version is not None and now >= began + self._seconds):
            began = self._begun[wanted] = now
        return await self._making.run((wanted, began), partial(self._made, key, make, version, began))

    async def _made(self, key: Hashable, make: Work[T], version: Hashable, began: float) -> T:
        try:
            value = await make()
        finally:
            if self._begun.get((key, version)) == began:
                del self._begun[key, version]
        if value is not None:
            self._keep(key, value, version, self._clock.seconds() if version is None else began)
        return value

    def _keep(self, key: Hashable, value: T, version: Hashable, since: float) -> None:
        entry, old = _Entry(value, version, since + self._seconds, self._size_of(value)), self._entries.get(key)
        if entry.size > self._max_size or (old is not None and old.until > entry.until):
            return
        self.size += entry.size - (old.size if old else 0)
        self._entries[key] = entry
        self._entries.move_to_end(key)
        while self.size > self._max_size:
            _, gone = self._entries.popitem(last=False)
            self.size -= gone.size
