"""When a request is sent again, and how long to wait before. Pure decisions."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

BUSY = frozenset({429, 502, 503, 504})
"""Statuses of a server, or of a proxy before it, that may answer later."""
_RATE_LIMIT = 429


@dataclass(frozen=True)
class Retries:
    """How often a request is sent again: after lost connections, and while the server is busy.

    The first wait has up to ``first`` seconds, each further one up to twice as many, at most ``longest``. What the
    server asks for (Retry-After) is waited for in any case, unless a request would wait longer than ``patience``
    seconds in all. A rate limit counts by ``patience`` alone: with the usual settings of a server it ends after 15
    minutes at the latest.
    """

    attempts: int = 8
    first: float = 0.5
    longest: float = 30.0
    patience: float = 1200.0


@dataclass
class Waiting:
    """How long one request has waited so far."""

    retries: Retries
    chance: random.Random = field(default_factory=random.Random)
    failures: int = 0
    waited: float = 0.0

    def after_loss(self) -> float | None:
        """Seconds to wait after a lost connection; None: give up."""
        return self._count(None)

    def after_status(self, status: int, retry_after: str | None) -> float | None:
        """Seconds to wait after a status of BUSY; None: give up. ``retry_after``: the header, in seconds."""
        asked = seconds(retry_after)
        if status == _RATE_LIMIT and asked is not None:
            return self._wait(asked)
        return self._count(asked)

    def _count(self, asked: float | None) -> float | None:
        self.failures += 1
        if self.failures >= self.retries.attempts:
            return None
        limit = min(self.retries.longest, self.retries.first * 2 ** (self.failures - 1))
        # By chance, so that many clients do not come back at the same moment.
        return self._wait(max(asked or 0.0, self.chance.uniform(limit / 2, limit)))

    def _wait(self, delay: float) -> float | None:
        if self.waited + delay > self.retries.patience:
            return None
        self.waited += delay
        return delay


def seconds(retry_after: str | None) -> float | None:
    """The seconds of a Retry-After header; None for a date, which crowdd does not send, and without one."""
    if retry_after is None or not retry_after.strip().isdecimal():
        return None
    return float(retry_after)
