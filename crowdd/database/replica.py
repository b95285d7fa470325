"""A streaming replica that long reads may go to, and never shows anybody less than the primary does.

Before each read the primary says how far its log goes, and the replica is asked until it has applied as much. So a read
there sees all that was committed when it began: its own author's changes, a lock, a deletion. If the replica takes too
long, or cannot be asked, the primary reads instead.

How far two logs go can be compared only on one timeline (PostgreSQL's documentation, Continuous Archiving, Timelines). That
a replica follows the present timeline is proved once by a row that the primary wrote on it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final, TypeVar

import attrs
import psycopg2
from twisted.internet.defer import ensureDeferred
from twisted.internet.task import LoopingCall, deferLater
from twisted.logger import Logger

from crowdd.database.access import Database, Reading, fetch_rows
from crowdd.database.errors import first_line
from crowdd.database.pool import Apart, Pool
from crowdd.database.transaction import RERUNNABLE
from crowdd.kernel.errors import CrowddError, UnavailableError
from crowdd.kernel.reactor import IReactor

T = TypeVar("T")

CHECK_SECONDS: Final = 5.0
_PAUSES: Final = (0.005, 0.01, 0.02, 0.05)  # seconds between two questions; the last one again and again

# pg_walfile_name() begins with the timeline in hexadecimal digits. What is inserted counts, not what is flushed: with
# synchronous_commit off an acknowledged answer is on its way. Just behind the header of a page (24 bytes, at the start of
# a segment 40: xlog_internal.h of PostgreSQL) nothing of that page is written yet, and a replica has then the page before.
_PRIMARY = """
SELECT substr(pg_walfile_name(inserted), 1, 8) AS timeline, (SELECT max(seen) FROM node) AS seen,
       (inserted - CASE WHEN in_segment = 40 THEN 40 WHEN in_segment % page = 24 AND in_segment > page THEN 24 ELSE 0 END)::text
       AS position
  FROM (SELECT inserted, inserted - '0/0' AS start, pg_size_bytes(current_setting('wal_segment_size')) AS segment,
               current_setting('wal_block_size')::numeric AS page FROM pg_current_wal_insert_lsn() AS inserted) log,
       LATERAL (SELECT start % segment AS in_segment) place"""
_REPLICA = """
SELECT pg_is_in_recovery() AND coalesce(pg_last_wal_replay_lsn() >= %(position)s::pg_lsn, false) AS reached,
       (SELECT max(seen) FROM node) AS seen"""

# Whatever is wrong with a replica (another database, a missing right, a statement that applying the log cancelled) must
# stop neither the look at it nor a read, which the primary can serve.
_WRONG: Final = (CrowddError, psycopg2.Error)

log = Logger()


@attrs.frozen
class PrimaryState:
    """``position``: all that was committed lies before it. ``seen``: when a server wrote last that it is there."""

    timeline: str
    position: str
    seen: datetime | None


@attrs.frozen
class ReplicaState:
    """``reached``: whether the position is applied that was asked for."""

    reached: bool
    seen: datetime | None


@attrs.frozen
class Proof:
    """That the replica follows the timeline of the primary. ``since``: a row that is newer proves it."""

    timeline: str = ""
    proved: bool = False
    since: datetime | None = None

    def after(self, primary: PrimaryState, replica: ReplicaState) -> Proof:
        """What is known once both were asked, the primary first."""
        if primary.timeline != self.timeline:
            return Proof(primary.timeline, since=primary.seen)
        newer = replica.seen is not None and (self.since is None or replica.seen > self.since)
        return attrs.evolve(self, proved=self.proved or newer)


class Replica:
    """One replica of the database that ``primary`` asks.

    ``pool`` and ``apart``: connections to it, for lists and for files. A read waits up to ``seconds`` until the replica
    has what was committed. ``reads`` counts where reads were served since the start.
    """

    def __init__(self, reactor: IReactor, primary: Database, pool: Pool, apart: Apart, seconds: float) -> None:
        self._reactor, self._primary, self._seconds = reactor, primary, seconds
        self.pool, self.apart = pool, apart
        self.reads = {"replica": 0, "primary": 0}
        self.available = False
        self._proof, self._position = Proof(), ""
        self._checking = LoopingCall(lambda: ensureDeferred(self.check()))
        self._checking.clock = reactor

    def start(self) -> None:
        """Connects and looks from time to time, as long as it takes."""
        self.pool.start().addErrback(
            lambda failure: log.error("[db] replica_dsn: {reason}", reason=failure.getErrorMessage())
        )
        self._checking.start(CHECK_SECONDS)

    def stop(self) -> None:
        """Looks no more and breaks off files. The pool is closed by who waits for it."""
        if self._checking.running:
            self._checking.stop()
        self.apart.close()

    async def check(self) -> None:
        """Whether reads may go there until the next check."""
        asked = self._position
        try:
            primary = await self._of_primary()
            replica = await self._of_replica(asked or primary.position)
        except _WRONG as error:
            self._be(available=False, because=first_line(error))
            return
        self._position, self._proof = primary.position, self._proof.after(primary, replica)
        if not replica.reached:
            self._be(available=False, because="It has not applied what the primary had written five seconds before.")
        elif self._proof.proved:
            self._be(available=True)

    async def current(self) -> bool:
        """Whether it shows, by now, all that was committed when this was called."""
        if not self.available:
            return False
        try:
            primary = await self._of_primary()
            if primary.timeline != self._proof.timeline:
                self._be(available=False, because="The primary is on another timeline.")
                return False
            return await self._reaches(primary.position)
        except _WRONG as error:
            self._be(available=False, because=first_line(error))
            return False

    async def catches_up(self) -> bool:
        """Whether it has, within the time of a read, all that was committed when this was called. Raises what asking does."""
        return await self._reaches((await self._of_primary()).position)

    async def _reaches(self, position: str) -> bool:
        pauses, end = iter(_PAUSES), self._reactor.seconds() + self._seconds
        pause = 0.0
        while not (await self._of_replica(position)).reached:
            if self._reactor.seconds() >= end:
                self._be(available=False, because=f"It is more than {self._seconds:g} seconds behind.")
                return False
            pause = next(pauses, pause)
            await deferLater(self._reactor, pause)
        return True

    async def _of_primary(self) -> PrimaryState:
        return (await fetch_rows(self._primary, PrimaryState, _PRIMARY))[0]

    async def _of_replica(self, position: str) -> ReplicaState:
        return (await fetch_rows(self.pool, ReplicaState, _REPLICA, {"position": position}))[0]

    def _be(self, *, available: bool, because: str = "") -> None:
        if available != self.available:
            self.available = available
            if available:
                log.info("long reads go to the replica")
            else:
                log.warn("long reads go to the primary: the replica cannot be used. {reason}", reason=because)


@attrs.frozen
class ReplicaFirst:
    """Reads ``there`` when ``replica`` is current, otherwise ``here``.

    What is ``repeatable`` may be read here after it failed there half way.
    """

    replica: Replica
    there: Reading
    here: Reading
    repeatable: bool

    async def transaction(self, work: Callable[[Database], Awaitable[T]]) -> T:
        """The result of ``work`` in a transaction that changes nothing."""
        begun = False

        async def begin(tx: Database) -> T:
            nonlocal begun
            begun = True
            return await work(tx)

        if await self.replica.current():
            try:
                result = await self.there.transaction(begin)
            except (UnavailableError, *RERUNNABLE):
                # It is gone, or applying the log had to take away what was being read.
                if begun and not self.repeatable:
                    raise
            else:
                self.replica.reads["replica"] += 1
                return result
        self.replica.reads["primary"] += 1
        return await self.here.transaction(work)
