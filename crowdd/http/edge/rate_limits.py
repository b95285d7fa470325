"""Counts requests per window: exact within a process, nearly so over several, in bounded memory.

(interface: limit-rate, limit-rate-own, limit-rate-processes)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from functools import partial

import attrs
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from crowdd.http.edge.headers import EncodedHeaders
from crowdd.kernel.concurrency.cache import Flight
from crowdd.kernel.reactor import epoch_seconds

MAX_KEYS = 100_000
NETWORK, BROWSER, KEY = "network", "browser", "key"  # whose window the figures of an answer speak of
MAX_PROJECTS = 4  # projects whose presenters have a limit of their own, per visitor, end point and window
_BUCKETS = 1024  # what comes beyond shares so many counters
_TOLD_PER_WINDOW, _MAX_FLUSH = 30, 100
Add = Callable[[Hashable, int, int], Awaitable[int]]
Share = Callable[[str, "Window"], "SharedWindow"]

log = Logger()


@attrs.frozen
class RateLimitStatus:
    """What is left: ``reset`` is the epoch second at which the window ends, ``scope`` whose window it is."""

    allowed: bool
    limit: int
    remaining: int
    reset: int
    scope: str = NETWORK

    def headers(self) -> EncodedHeaders:
        """The headers of a limited response."""
        return (
            (b"X-Ratelimit-Limit", b"%d" % self.limit),
            (b"X-Ratelimit-Remaining", b"%d" % self.remaining),
            (b"X-Ratelimit-Reset", b"%d" % self.reset),
            (b"X-Ratelimit-Scope", self.scope.encode()),
        )


@attrs.frozen
class LimitedClient:
    """Who is counted: an API key or token, a browser by its cookie, or nobody but the network; ``name`` is "" then.

    ``project`` is whose presenter asks in a browser.
    """

    network: str
    scope: str = NETWORK
    name: str = ""
    project: int | None = None


@attrs.frozen
class Limits:
    """Requests per window of ``seconds`` and end point: of a network or a browser, of a key, and how many times as
    many all browsers, or all keys, of one network may send together."""

    limit: int
    key_limit: int
    seconds: int
    shared_address_factor: int


class Window:
    """``limit`` requests per key and window of ``seconds``, aligned to the epoch; limit 0 allows everything.

    ``clock`` has ``seconds()``, as a reactor has.
    """

    def __init__(self, clock: IReactorTime, limit: int, seconds: int) -> None:
        self._clock, self.limit, self._seconds = clock, limit, seconds
        self._end = 0
        self._used: dict[Hashable, int] = {}

    def use(self, limit: int, seconds: int) -> None:
        """Other limits from now on; what was taken in this window counts."""
        if seconds != self._seconds:
            self._end = 0
        self.limit, self._seconds = limit, seconds

    def merge(self, key: Hashable, end: int, total: int) -> RateLimitStatus | None:
        """There are so many with those of other processes; None when that window is over. The last one was ours."""
        if end != self._end:
            return None
        used = self._used[self.bucket(key)] = max(total, self._used.get(self.bucket(key), 0))
        return self._status(used)

    def end(self) -> int:
        """The epoch second at which the present window ends; an earlier one is forgotten."""
        now = epoch_seconds(self._clock)
        if not self._end - self._seconds <= now < self._end:  # over, or the clock was set back
            self._end = (int(now) // self._seconds + 1) * self._seconds
            self._used = {}
        return self._end

    def take(self, key: Hashable) -> RateLimitStatus:
        """Counts a request and says whether it is allowed."""
        self.end()
        key = self.bucket(key)
        used = self._used[key] = self._used.get(key, 0) + 1
        return self._status(used)

    def bucket(self, key: Hashable) -> Hashable:
        """Where a key is counted: with others where there are too many."""
        return hash(key) % _BUCKETS if key not in self._used and len(self._used) >= MAX_KEYS else key

    def _status(self, used: int) -> RateLimitStatus:
        allowed = self.limit == 0 or used <= self.limit
        return RateLimitStatus(allowed, self.limit, max(self.limit - used, 0), self._end)


class SharedWindow:
    """A window that several processes fill together.

    Each counts for itself and tells the others every ``block`` requests of a key, by the database: that is one write
    for so many requests. What is admitted is never less than ``limit``, and at most ``block - 1`` more for each
    process. While the database is away each counts alone.
    """

    def __init__(self, window: Window, add: Add, flush_every: int) -> None:
        """``add(key, end, more)`` gives the number of all processes with ``more`` of this one."""
        self._window, self._add, self._flush_every = window, add, flush_every
        self._untold: dict[Hashable, int] = {}
        self._end = 0
        self._telling: Flight[RateLimitStatus] = Flight()

    def use(self, limit: int, seconds: int) -> None:
        """Other limits from now on."""
        self._window.use(limit, seconds)

    async def take(self, key: Hashable) -> RateLimitStatus:
        """Counts a request and says whether it is allowed. Raises nothing."""
        key = self._window.bucket(key)
        while key in self._telling:  # what the others have is just being asked: those behind wait for it
            await self._telling.join(key)
        status = self._window.take(key)
        if not status.allowed or not status.limit:
            return status
        if status.reset != self._end:
            self._end, self._untold = status.reset, {}
        untold = self._untold[key] = self._untold.get(key, 0) + 1
        if untold < self._flush_every:
            return status
        return await self._telling.run(key, partial(self._tell, key, status))

    async def _tell(self, key: Hashable, status: RateLimitStatus) -> RateLimitStatus:
        return await self._merged(key, self._untold.pop(key), status.reset) or status

    async def _merged(self, key: Hashable, more: int, end: int) -> RateLimitStatus | None:
        """What is allowed by what all have told; None when nobody knows, or the window is over."""
        try:
            return self._window.merge(key, end, await self._add(key, end, more))
        except Exception as error:
            log.warn("rate limits counted by this process only: {error}", error=error)
            if end == self._end:
                self._untold[key] = more + self._untold.get(key, 0)
            return None


@attrs.frozen
class WindowGroup:
    """Several windows at once, such as an hour and a day: what one of them refuses is refused."""

    windows: tuple[Window | SharedWindow, ...]

    async def take(self, key: Hashable) -> bool:
        """Counts a request in each window up to the first that refuses it; whether it is allowed."""
        for window in self.windows:
            if not (await count_hit(window, key)).allowed:
                return False
        return True


class ProjectShares:
    """The projects whose presenters have a count of their own for a visitor, until the window ends.

    The first ``MAX_PROJECTS`` get one, the others share one, so a client that invents projects gains little.
    """

    def __init__(self) -> None:
        self._end = 0
        self._known: dict[Hashable, list[int]] = {}

    def counted_as(self, key: Hashable, project: int, end: int) -> int:
        """The project that ``project`` is counted as in the window that ends at ``end``; -1 is the shared one."""
        if end != self._end:
            self._end, self._known = end, {}
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MAX_KEYS:
                return -1
            known = self._known[key] = []
        if project not in known and len(known) < MAX_PROJECTS:
            known.append(project)
        return project if project in known else -1


class RateLimit:
    """The limit on /api: per client and end point, with a ceiling for all browsers and one for all keys of one network.

    Browsers and keys have ceilings of their own, so that neither can use up what the other may ask. What a presenter
    asks is counted apart for each project: it must not use up what its visitor may ask otherwise. ``shared`` makes a
    window one that several processes fill together.
    """

    def __init__(self, clock: IReactorTime, limits: Limits, shared: Share | None = None) -> None:
        def window(name: str) -> Window | SharedWindow:
            made = self._plain[name] = Window(clock, self._sizes(limits)[name], limits.seconds)
            return made if shared is None else shared(name, made)

        self._plain: dict[str, Window] = {}
        self._windows = {name: window(name) for name in self._sizes(limits)}
        self._shares, self._clock = ProjectShares(), clock
        self.active = limits.limit > 0

    @staticmethod
    def _sizes(limits: Limits) -> dict[str, int]:
        """How many requests each window allows."""
        sizes = {"own": limits.limit, "presenters": limits.limit, "common": limits.limit * limits.shared_address_factor}
        return {**sizes, "keys": limits.key_limit, "all keys": limits.key_limit * limits.shared_address_factor}

    def use(self, limits: Limits) -> None:
        """Other limits from now on."""
        for name, size in self._sizes(limits).items():
            self._windows[name].use(size, limits.seconds)
        self.active = limits.limit > 0

    def seconds(self) -> float:
        """Now, as epoch seconds."""
        return epoch_seconds(self._clock)

    async def take(self, endpoint: str, client: LimitedClient) -> RateLimitStatus:
        """Counts a request to an end point. What the client's own window refuses does not count for its network."""
        if client.scope == NETWORK and client.project is None:  # as most are
            return await count_hit(self._windows["own"], (endpoint, client.network))
        own = await self._hit_of_own(endpoint, client)
        if client.scope != NETWORK:
            own = RateLimitStatus(own.allowed, own.limit, own.remaining, own.reset, client.scope)
        if not own.allowed:
            return own
        ceiling = self._windows["all keys" if client.scope == KEY else "common"]
        common = await count_hit(ceiling, (endpoint, client.network))
        return own if common.allowed else common

    async def _hit_of_own(self, endpoint: str, client: LimitedClient) -> RateLimitStatus:
        key = (endpoint, client.name or client.network)
        if client.scope == KEY:
            return await count_hit(self._windows["keys"], key)
        if client.project is None:
            return await count_hit(self._windows["own"], key)
        counted = self._shares.counted_as(key, client.project, self._plain["presenters"].end())
        return await count_hit(self._windows["presenters"], (*key, counted))


async def count_hit(window: Window | SharedWindow, key: Hashable) -> RateLimitStatus:
    """Count a hit, locally or shared."""
    return window.take(key) if isinstance(window, Window) else await window.take(key)


def flush_every(limit: int) -> int:
    """How many requests a process counts before it tells the others: a thirtieth, for who is near the limit."""
    return max(1, min(limit // _TOLD_PER_WINDOW, _MAX_FLUSH))
