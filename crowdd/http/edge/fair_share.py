"""Limits that share one process fairly: connections and pages, expensive requests, and parts of files.

A flood from one network, or of pages, cannot take everything from the others. Expensive requests run one at a time.

Several parts of files at a time would keep both the processors and the disk busy, and others would wait for their
tasks. So one part is received at a time, in bursts with pauses between them, and after it no part for as long as it
took. The others stay unread in the buffers of their connections, which slows their senders down.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from typing import Final

from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.internet.task import deferLater

from crowdd.http.request import Incoming
from crowdd.kernel.concurrency.cache import Cache
from crowdd.kernel.concurrency.throttling import Turns
from crowdd.kernel.errors import TooManyRequestsError

MAX_WAITING = 256  # requests of one network that wait; connections have the same limit
MAX_PER_TURN = 32  # requests of one network that begin in one turn of the reactor
MAX_PAGES_PER_TURN = 4  # of all networks together
MAX_PAGES_WAITING = 10_000
PAGES = "pages"
SHARE_TURN_SECONDS = 0.002  # what began longer ago began in an earlier turn, if nobody had to wait


class FairShare:
    """At most ``at_once`` requests of one network are answered at a time; further ones wait, in their order.

    Nor do more than ``per_turn`` begin in one turn of the reactor, so that requests of other networks that have arrived
    meanwhile are read before the next ones begin, even when each is refused at once. ``at_once`` 0: no limit. ``clock``
    has ``seconds`` and ``callLater``.
    """

    def __init__(
        self, clock: IReactorTime, at_once: int, *, per_turn: int = MAX_PER_TURN, max_waiting: int = MAX_WAITING
    ) -> None:
        self._clock, self._at_once, self._per_turn, self._max_waiting = clock, at_once, per_turn, max_waiting
        self._active: defaultdict[str, int] = defaultdict(int)
        self._begun: defaultdict[str, int] = defaultdict(int)  # in this turn of the reactor
        self._turn_ends = 0.0
        self._waiting: dict[str, deque[Deferred[None]]] = {}
        self._planned = False

    def begin(self, network: str) -> bool:
        """Begin a request of a network, if it need not wait. Every request that begins needs a call of ``leave``."""
        if not self._at_once:
            return True
        if self._clock.seconds() >= self._turn_ends and not self._planned:
            self._begin_turn()
        if network in self._waiting or not self._has_room(network):
            return False
        self._begin(network)
        return True

    async def wait(self, network: str) -> None:
        """Wait until a request begins that could not begin at once.

        Raises TooManyRequestsError when too many requests of the network wait already.
        """
        queue = self._waiting.setdefault(network, deque())
        if len(queue) >= self._max_waiting:
            raise TooManyRequestsError("Too many requests from your network are waiting.", retry_after=1)
        turn: Deferred[None] = Deferred()
        queue.append(turn)
        if self._active[network] < self._at_once:
            self._plan()
        await turn

    def leave(self, network: str) -> None:
        """Give the place back; a request that waits begins in a later turn of the reactor."""
        if not self._at_once:
            return
        self._active[network] -= 1
        if not self._active[network]:
            del self._active[network]
        if network in self._waiting:
            self._plan()

    def _has_room(self, network: str) -> bool:
        return self._active[network] < self._at_once and self._begun[network] < self._per_turn

    def _begin(self, network: str) -> None:
        self._active[network] += 1
        self._begun[network] += 1

    def _plan(self) -> None:
        if not self._planned:
            self._planned = True
            self._clock.callLater(0, self._next_turn)

    def _next_turn(self) -> None:
        """Begin what waits, as far as there is room."""
        self._planned = False
        self._begin_turn()
        for network, queue in list(self._waiting.items()):
            while queue and self._has_room(network):
                self._begin(network)
                queue.popleft().callback(None)
            if not queue:
                del self._waiting[network]
            elif self._active[network] < self._at_once:
                self._plan()

    def _begin_turn(self) -> None:
        self._begun.clear()
        self._turn_ends = self._clock.seconds() + SHARE_TURN_SECONDS


class PageTurns(FairShare):
    """Of all networks, under the name PAGES: many who are sent pages do not delay those who take or answer a task.

    A turn begins when a page is there and ends at once, so a page that takes long to make is in nobody's way. While
    ``volunteers`` wait for a task, or for their answer to be stored, one page is sent in a turn of the reactor: each of
    the turns that such a request takes then is as long as a page.
    """

    def __init__(self, clock: IReactorTime) -> None:
        super().__init__(clock, MAX_PAGES_WAITING, per_turn=MAX_PAGES_PER_TURN, max_waiting=MAX_PAGES_WAITING)
        self.volunteers = 0

    def _has_room(self, network: str) -> bool:
        return super()._has_room(network) and (not self.volunteers or not self._begun[network])


LARGE_ANSWER: Final = 1_000_000  # bytes
REMEMBERED_SECONDS: Final = 2.0  # for so long after a large answer of a route its next one is expected to be large, too
WAIT_SECONDS: Final = 60.0
_MAX_ROUTES: Final = 1000
COSTLY_REST: Final = 0.5  # of the time that a costly request took, before the next one begins


class CostlyRequests:
    """Takes requests in turn that bring an array or a large body, and those that read where large answers come from.

    Memory and processor time of a flood are then bounded by one request of each sort, from however many networks it
    comes. ``clock`` has ``seconds`` and ``callLater``.
    """

    def __init__(self, clock: IReactorTime) -> None:
        refusal = "Too many large requests are in progress. Send smaller ones, or try again in a moment."
        self.writes = Turns(clock, 1, WAIT_SECONDS, rest=COSTLY_REST, max_waiting_of_one=64, refusal=refusal)
        self.reads = Turns(clock, 1, WAIT_SECONDS, rest=COSTLY_REST, max_waiting_of_one=64, refusal=refusal)
        self._large = Cache[bool](clock, REMEMBERED_SECONDS, _MAX_ROUTES)

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
            self._large.put(path, True)


PART_TURN_SECONDS: Final = 0.25
"""After this time a part gives its turn up and arrives beside others: its sender is slow."""
BURST: Final = 131_072
"""Bytes of a part that are received before a pause."""
PAUSE_SECONDS: Final = 0.002
"""So long nothing is read of a part after each burst."""
PART_REST: Final = 1.0
"""How long no other part is received after one, in times of what that one took. A slow one is no load to rest from."""


class PartTurns:
    """One part at a time, in the order in which they came; any number waits."""

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._turns = Turns(clock, 1, None)

    async def take(self, begin: Callable[[], Deferred[None]]) -> None:
        """Call ``begin`` when the turn comes. The Deferred that it returns says when the request has been answered."""
        await self._turns.run("", lambda: self._until_done(begin()))

    def pause(self, then: Callable[[], None]) -> IDelayedCall:
        """Call ``then`` when more of a part may be read."""
        return self._clock.callLater(PAUSE_SECONDS, then)

    async def _until_done(self, done: Deferred[None]) -> None:
        began = self._clock.seconds()
        try:
            await done.addTimeout(PART_TURN_SECONDS, self._clock)
        except TimeoutError:
            return
        if (rest := PART_REST * (self._clock.seconds() - began)) > 0:
            await deferLater(self._clock, rest)
