"""Counting requests per window (interface, Limits): exact within a process, and bounded in memory."""

from __future__ import annotations

from typing import Any

import attrs

MOST_KEYS = 100_000
_BUCKETS = 1024  # what comes beyond shares so many counters


@attrs.frozen
class Allowance:
    """What is left: ``reset`` is the epoch second at which the window ends."""

    allowed: bool
    limit: int
    remaining: int
    reset: int

    def headers(self) -> dict[str, str]:
        """The three headers of a limited response."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset),
        }


class Window:
    """``limit`` requests per key and window of ``seconds``, aligned to the epoch; limit 0 allows everything.

    ``clock`` has ``seconds()``, as a reactor has.
    """

    def __init__(self, clock: Any, limit: int, seconds: int) -> None:
        self._clock, self.limit, self._seconds = clock, limit, seconds
        self._end = 0
        self._used: dict[Any, int] = {}

    def take(self, key: Any) -> Allowance:
        """Counts a request and says whether it is allowed."""
        now = self._clock.seconds()
        if now >= self._end:
            self._end = (int(now) // self._seconds + 1) * self._seconds
            self._used = {}
        if key not in self._used and len(self._used) >= MOST_KEYS:
            key = hash(key) % _BUCKETS
        used = self._used[key] = self._used.get(key, 0) + 1
        allowed = self.limit == 0 or used <= self.limit
        return Allowance(allowed, self.limit, max(self.limit - used, 0), self._end)


class RateLimit:
    """The limit on /api: per client and end point, with a ceiling for all clients with cookies of one address."""

    def __init__(self, clock: Any, limit: int, seconds: int, room: int) -> None:
        self._own = Window(clock, limit, seconds)
        self._shared = Window(clock, limit * room, seconds)
        self._clock = clock
        self.active = limit > 0

    def seconds(self) -> float:
        """Now, as epoch seconds."""
        return float(self._clock.seconds())

    def take(self, endpoint: str, address: str, cookie: str) -> Allowance:
        """Counts a request to an end point from an address; ``cookie`` names a client that has one, else ""."""
        own = self._own.take((endpoint, cookie or address))
        if not cookie or not own.allowed:
            return own
        shared = self._shared.take((endpoint, address))
        return own if shared.allowed else attrs.evolve(own, allowed=False, remaining=0, reset=shared.reset)
