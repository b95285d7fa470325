"""Requests that cost much: one at a time, so that those of others do not wait for several of them."""

from __future__ import annotations

from typing import Final

from twisted.internet.interfaces import IReactorTime

from crowdd.concurrency.concurrency_limit import Turns
from crowdd.concurrency.expiring_cache import ExpiringCache
from crowdd.http.request import Incoming

LARGE_ANSWER: Final = 1_000_000  # bytes
REMEMBERED_SECONDS: Final = 2.0  # for so long after a large answer of a route its next one is expected to be large, too
WAIT_SECONDS: Final = 60.0
_MAX_ROUTES: Final = 1000
REST: Final = 0.5  # of the time that a costly request took, before the next one begins


class CostlyRequests:
    """Takes requests in turn that bring an array or a large body, and those that read where large answers come from.

    Memory and processor time of a flood are then bounded by one request of each sort, from however many networks it
    comes. ``clock`` has ``seconds`` and ``callLater``.
    """

    def __init__(self, clock: IReactorTime) -> None:
        refusal = "Too many large requests are in progress. Send smaller ones, or try again in a moment."
        self.writes = Turns(clock, 1, WAIT_SECONDS, rest=REST, max_waiting_of_one=64, refusal=refusal)
        self.reads = Turns(clock, 1, WAIT_SECONDS, rest=REST, max_waiting_of_one=64, refusal=refusal)
        self._large = ExpiringCache(clock, REMEMBERED_SECONDS, _MAX_ROUTES)

    def turns(self, incoming: Incoming, path: str) -> Turns | None:
        """The turns that a request for a route (its ``path``) takes; None for most requests."""
        if incoming.brings_much:
            return self.writes
        return self.reads if not incoming.changes_state and self.expects_much(path) else None

    def expects_much(self, path: str) -> bool:
        """Whether the next answer of a route may be large."""
        return path in self._large

    def answered(self, incoming: Incoming, path: str, size: int) -> None:
        """Note that a route gave an answer of so many bytes."""
        if size >= LARGE_ANSWER and not incoming.changes_state:
            self._large.add(path)
