"""Counts requests per window (interface, Limits): exact within a process, nearly so over several, in bounded memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import attrs
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from crowdd.http.heads import Ready

MOST_KEYS = 100_000
MAX_PROJECTS = 4  # projects whose presenters have a limit of their own, per visitor, end point and window
_BUCKETS = 1024  # what comes beyond shares so many counters
_TOLD_PER_WINDOW, _LARGEST_BLOCK = 30, 100
Add = Callable[[Any, int, int], Awaitable[int]]
Share = Callable[[str, "Window"], "SharedWindow"]

log = Logger()


@attrs.frozen
class Allowance:
    """What is left: ``reset`` is the epoch second at which the window ends."""

    allowed: bool
    limit: int
    remaining: int
    reset: int

    def headers(self) -> Ready:
        """The three headers of a limited response."""
        return (
            (b"X-Ratelimit-Limit", b"%d" % self.limit),
            (b"X-Ratelimit-Remaining", b"%d" % self.remaining),
            (b"X-Ratelimit-Reset", b"%d" % self.reset),
        )


class Window:
    """``limit`` requests per key and window of ``seconds``, aligned to the epoch; limit 0 allows everything.

    ``clock`` has ``seconds()``, as a reactor has.
    """

    def __init__(self, clock: Any, limit: int, seconds: int) -> None:
        self._clock, self.limit, self._seconds = clock, limit, seconds
        self._end = 0
        self._used: dict[Any, int] = {}

    def use(self, limit: int, seconds: int) -> None:
        """Other limits from now on; what was taken in this window counts."""
        if seconds != self._seconds:
            self._end = 0
        self.limit, self._seconds = limit, seconds

    def know(self, key: Any, end: int, total: int) -> Allowance | None:
        """There are so many with those of other processes; None when that window is over. The last one was ours."""
        if end != self._end:
            return None
        used = self._used[self.place(key)] = max(total, self._used.get(self.place(key), 0))
        return self._allowance(used)

    def end(self) -> int:
        """The epoch second at which the present window ends; an earlier one is forgotten."""
        now = self._clock.seconds()
        if now >= self._end:
            self._end = (int(now) // self._seconds + 1) * self._seconds
            self._used = {}
        return self._end

    def take(self, key: Any) -> Allowance:
        """Counts a request and says whether it is allowed."""
        self.end()
        key = self.place(key)
        used = self._used[key] = self._used.get(key, 0) + 1
        return self._allowance(used)

    def place(self, key: Any) -> Any:
        """Where a key is counted: with others where there are too many."""
        return hash(key) % _BUCKETS if key not in self._used and len(self._used) >= MOST_KEYS else key

    def _allowance(self, used: int) -> Allowance:
        allowed = self.limit == 0 or used <= self.limit
        return Allowance(allowed, self.limit, max(self.limit - used, 0), self._end)


class SharedWindow:
    """A window that several processes fill together.

    Each counts for itself and tells the others every ``block`` requests of a key, by the database: that is one write
    for so many requests. What is admitted is never less than ``limit``, and at most ``block - 1`` more for each
    process. While the database is away each counts alone.
    """

    def __init__(self, window: Window, add: Add, block: int) -> None:
        """``add(key, end, more)`` gives the number of all processes with ``more`` of this one."""
        self._window, self._add, self._block = window, add, block
        self._untold: dict[Any, int] = {}
        self._end = 0
        self._telling: dict[Any, list[Deferred[None]]] = {}

    def use(self, limit: int, seconds: int) -> None:
        """Other limits from now on."""
        self._window.use(limit, seconds)

    async def take(self, key: Any) -> Allowance:
        """Counts a request and says whether it is allowed. Raises nothing."""
        key = self._window.place(key)
        while key in self._telling:  # what the others have is just being asked: those behind wait for it
            place: Deferred[None] = Deferred()
            self._telling[key].append(place)
            await place
        allowance = self._window.take(key)
        if not allowance.allowed or not allowance.limit:
            return allowance
        if allowance.reset != self._end:
            self._end, self._untold = allowance.reset, {}
        untold = self._untold[key] = self._untold.get(key, 0) + 1
        if untold < self._block:
            return allowance
        return await self._tell(key, allowance)

    async def _tell(self, key: Any, allowance: Allowance) -> Allowance:
        self._telling[key] = []
        known = await self._known(key, self._untold.pop(key), allowance.reset)
        for place in self._telling.pop(key):  # now, for they go on at once
            place.callback(None)
        return known or allowance

    async def _known(self, key: Any, more: int, end: int) -> Allowance | None:
        """What is allowed by what all have told; None when nobody knows, or the window is over."""
        try:
            return self._window.know(key, end, await self._add(key, end, more))
        except Exception as error:
            log.warn("Requests are counted by this process alone: {error}", error=error)
            if end == self._end:
                self._untold[key] = more + self._untold.get(key, 0)
            return None


@attrs.frozen
class Budget:
    """Several windows at once, such as an hour and a day: what one of them refuses is refused."""

    windows: tuple[Window | SharedWindow, ...]

    async def take(self, key: Any) -> bool:
        """Counts a request in each window up to the first that refuses it; whether it is allowed."""
        for window in self.windows:
            if not (await taken(window, key)).allowed:
                return False
        return True


class ProjectShares:
    """The projects whose presenters have a count of their own for a visitor, until the window ends.

    The first ``MAX_PROJECTS`` get one, the others share one, so a client that invents projects gains little.
    """

    def __init__(self) -> None:
        self._end = 0
        self._known: dict[Any, list[int]] = {}

    def place(self, key: Any, project: int, end: int) -> int:
        """The project that ``project`` is counted as in the window that ends at ``end``; -1 is the shared one."""
        if end != self._end:
            self._end, self._known = end, {}
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MOST_KEYS:
                return -1
            known = self._known[key] = []
        if project not in known and len(known) < MAX_PROJECTS:
            known.append(project)
        return project if project in known else -1


class RateLimit:
    """The limit on /api: per client and end point, with a ceiling for all clients with cookies of one address.

    What a presenter asks is counted apart for each project: it must not use up what its visitor may ask otherwise.
    ``shared`` makes a window one that several processes fill together.
    """

    def __init__(self, clock: Any, limit: int, seconds: int, room: int, shared: Share | None = None) -> None:
        self._own: Window | SharedWindow = Window(clock, limit, seconds)
        self._common: Window | SharedWindow = Window(clock, limit * room, seconds)
        presenters = Window(clock, limit, seconds)
        self._presenters: Window | SharedWindow = presenters
        if shared is not None:
            self._own, self._common = shared("own", self._own), shared("common", self._common)
            self._presenters = shared("presenters", presenters)
        self._shares, self._window_end = ProjectShares(), presenters.end
        self._clock = clock
        self.active = limit > 0

    def use(self, limit: int, seconds: int, room: int) -> None:
        """Other limits from now on."""
        self._own.use(limit, seconds)
        self._presenters.use(limit, seconds)
        self._common.use(limit * room, seconds)
        self.active = limit > 0

    def seconds(self) -> float:
        """Now, as epoch seconds."""
        return float(self._clock.seconds())

    async def take(self, endpoint: str, address: str, cookie: str, project: int | None = None) -> Allowance:
        """Counts a request to an end point from an address; ``cookie`` names a client that has one, else "".

        ``project`` is whose presenter asks.
        """
        own = await self._taken_of_own((endpoint, cookie or address), project)
        if not own.allowed or (not cookie and project is None):
            return own
        common = await taken(self._common, (endpoint, address))
        return own if common.allowed else attrs.evolve(own, allowed=False, remaining=0, reset=common.reset)

    async def _taken_of_own(self, key: tuple[str, str], project: int | None) -> Allowance:
        if project is None:
            return await taken(self._own, key)
        return await taken(self._presenters, (*key, self._shares.place(key, project, self._window_end())))


async def taken(window: Window | SharedWindow, key: Any) -> Allowance:
    """Counts a request, whoever counts along."""
    return window.take(key) if isinstance(window, Window) else await window.take(key)


def block(limit: int) -> int:
    """How many requests a process counts before it tells the others: a thirtieth, for who is near the limit."""
    return max(1, min(limit // _TOLD_PER_WINDOW, _LARGEST_BLOCK))
