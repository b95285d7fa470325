"""One session with PostgreSQL in the reactor: its deadlines, its priority and its savepoints.

A connection is only ever used by one caller at a time; ``crowdd.database.pool`` sees to that. Host names in the DSN are
resolved by libpq while the reactor stands still, so the DSN should name a socket directory or an address.

A server behind a cut network says nothing, so each statement has a deadline. A backend that makes files yields to those
that answer volunteers: PostgreSQL has no priorities, but where its processes run on this machine under an account that
may change them, the system's priorities apply.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import psycopg2
import psycopg2.errors
from psycopg2 import errorcodes, extensions
from psycopg2.extensions import connection
from twisted.internet.defer import Deferred, fail
from twisted.internet.error import ConnectionClosed
from twisted.internet.interfaces import IDelayedCall, IReactorTime, IReadWriteDescriptor
from twisted.logger import Logger
from twisted.python.failure import Failure
from zope.interface import implementer

from crowdd.database.access import Database, Prepared, Row, Statement, Values
from crowdd.database.errors import LOST_CLASSES, domain_error, is_replaced
from crowdd.kernel import exact_json
from crowdd.kernel.concurrency.isolated import yield_to_requests
from crowdd.kernel.errors import (
    CrowddError,
    UnavailableError,
)
from crowdd.kernel.reactor import IReactor

T = TypeVar("T")
log = Logger()


GRACE_SECONDS = 2.0  # beyond the time-out of a statement, for the way there and back


class AnswerDeadline:
    """Calls ``give_up`` when a statement got no answer for ``seconds``; never if these are None.

    A connection runs tens of thousands of statements between two cut networks. So there is one timer per connection at
    most, which looks when the last statement is due, and none per statement.
    """

    def __init__(self, clock: IReactorTime, seconds: float | None, give_up: Callable[[], object]) -> None:
        self._clock, self._seconds, self._give_up = clock, seconds, give_up
        self._due: float | None = None
        self._timer: IDelayedCall | None = None

    def begin(self) -> None:
        """A statement was sent."""
        if self._seconds is None:
            return
        self._due = self._clock.seconds() + self._seconds
        if self._timer is None:
            self._timer = self._clock.callLater(self._seconds, self._look)

    def end(self) -> None:
        """It was answered."""
        self._due = None

    def stop(self) -> None:
        """The connection is closed."""
        self._due = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        if self._due is None:
            return
        left = self._due - self._clock.seconds()
        if left > 0:
            self._timer = self._clock.callLater(left, self._look)
        else:
            self._due = None
            self._give_up()


JSON_OIDS = (114, 3802)  # json, jsonb
STRETCHING = 1_000_000  # characters of a value


def in_background(work: Deferred[Any]) -> None:
    """Lets work go on by itself; its failure is logged, unless it comes of closing the pool."""

    def failed(failure: Failure) -> None:
        if not failure.check(UnavailableError):
            log.failure("background database operation failed", failure)

    work.addErrback(failed)


def rows(cursor: Cursor) -> list[Row]:
    """All rows of a finished statement by column name; none for a statement that returns no rows."""
    if cursor.description is None:
        return []
    names = [column[0] for column in cursor.description]
    fetched = cursor.fetchall()
    if len(fetched) == 1 and any(isinstance(value, str) and len(value) > STRETCHING for value in fetched[0]):
        cursor.stretched()
    return [dict(zip(names, row, strict=True)) for row in fetched]


def row_count(cursor: Cursor) -> int:
    """How many rows a finished statement touched or returned; 0 where PostgreSQL does not say."""
    return max(cursor.rowcount, 0)


class Cursor:
    """One statement, and its result afterwards: ``fetchall``, ``rowcount`` and ``description`` are those of psycopg2."""

    def __init__(self, connection: Connection, plain: extensions.cursor) -> None:
        self._connection, self._plain = connection, plain
        self.fetchall: Callable[[], list[tuple[object, ...]]] = plain.fetchall
        self._waiting: Deferred[Cursor] | None = None

    @property
    def rowcount(self) -> int:
        return int(self._plain.rowcount)

    @property
    def description(self) -> Sequence[Sequence[str]] | None:
        return self._plain.description

    def execute(self, sql: str, values: Values) -> Deferred[Cursor]:
        """Sends the statement; fires with this cursor when its result is there. Only one of a connection at a time."""
        try:
            self._plain.execute(sql, values)
        except Exception:
            return fail()
        waiting = self._waiting = Deferred()
        self._connection.active = self
        self._connection.answer.begin()
        self.poll()
        return waiting

    def poll(self) -> None:
        """Goes on after something was read or can be written."""
        result: Cursor | Failure = self
        try:
            state = self._connection.poll()
        except Exception:
            result, state = Failure(), extensions.POLL_OK
        if state == extensions.POLL_OK:
            self.finish(result)
        elif state == extensions.POLL_WRITE:
            self._connection.wait_for_room()

    def stretched(self) -> None:
        """A row was so long that libpq needed much room for it."""
        self._connection.stretched = True

    def finish(self, result: Cursor | Failure) -> None:
        """Ends the statement with its cursor or its failure. What was notified meanwhile comes first."""
        waiting, self._waiting, self._connection.active = self._waiting, None, None
        self._connection.answer.end()
        self._connection.hear()
        if waiting is not None:
            waiting.callback(result)


@implementer(IReadWriteDescriptor)
class Connection:
    """A connection that stays registered with the reactor, and that tells when it was lost and when it may be used again.

    ``when_lost(connection)`` is called when it is lost, after a running statement has failed; ``when_notified(channel,
    payload)`` for each NOTIFY. It counts as lost when a statement gets no answer for ``answer_timeout``. One that is to be
    ``writable`` also when its server takes no changes: it is ``demoted``, and another server of the DSN may have become the
    primary. After a long row it is ``stretched``: libpq keeps as much room as its longest row took.
    """

    active: Cursor | None = None
    writable = demoted = stretched = False
    _connection: connection = None  # psycopg2's own
    _connecting: Deferred[Connection] | None = None
    _descriptor: int | None = None

    def __init__(
        self,
        reactor: IReactor,
        when_lost: Callable[[Connection], None],
        when_notified: Callable[[str, str], None] = lambda channel, payload: None,
        answer_timeout: float | None = None,
    ) -> None:
        self.reactor = reactor
        self.answer = AnswerDeadline(reactor, answer_timeout, self._unanswered)
        self._when_lost = when_lost
        self._when_notified = when_notified
        self._prepared: set[str] = set()
        self._outdated = False  # what was prepared returns other columns since an upgrade

    @property
    def alive(self) -> bool:
        """Whether the session exists, as far as is known."""
        return self._connection is not None and not self._connection.closed

    @property
    def status(self) -> int:
        """The transaction status, one of ``psycopg2.extensions.TRANSACTION_STATUS_*``."""
        return self._connection.get_transaction_status() if self.alive else extensions.TRANSACTION_STATUS_UNKNOWN

    @property
    def idle(self) -> bool:
        """Whether the next caller may have it: alive, no statement under way, no transaction open."""
        return self.status == extensions.TRANSACTION_STATUS_IDLE

    def run(self, sql: Statement, values: Values = None, *, commits: bool = False) -> Deferred[Cursor]:
        """Executes one statement; fires with the finished cursor.

        ``commits`` says that success makes something permanent: if the connection is lost on the way, the
        UnavailableError is then marked uncertain. Cancelling the result only ends the waiting: the statement goes on,
        and until its end the connection is not idle.
        """
        if not self.alive:
            return fail(UnavailableError("The database connection was lost."))
        if isinstance(sql, Prepared):
            if self._outdated:
                return self._deallocate().addCallback(lambda _: self.run(sql, values, commits=commits))
            if sql.name not in self._prepared:
                return self._prepare(sql).addCallback(lambda _: self.run(sql, values, commits=commits))
            sql = sql.call
        return Cursor(self, self._connection.cursor()).execute(sql, values).addErrback(self._explain, commits)

    def _prepare(self, sql: Prepared) -> Deferred[Cursor]:
        def known(cursor: Cursor) -> Cursor:
            self._prepared.add(sql.name)
            return cursor

        return self.run(sql.definition).addCallback(known)

    def _deallocate(self) -> Deferred[Cursor]:
        self._prepared.clear()
        self._outdated = False
        return self.run("DEALLOCATE ALL")

    def _explain(self, failure: Failure, commits: bool) -> Failure:
        error: Any = failure.value
        self._outdated = self._outdated or (isinstance(error, Exception) and is_replaced(error))
        code = getattr(error, "pgcode", None) or ""
        self.demoted = self.writable and code == errorcodes.READ_ONLY_SQL_TRANSACTION
        if self.demoted or not self.alive or code.startswith(LOST_CLASSES):
            self.lose()
        # A statement that was refused because nothing may be changed has changed nothing.
        meaning = domain_error(error, lost=not self.alive, uncertain=commits and not self.demoted)
        if meaning is error:
            return failure
        meaning.__cause__ = error
        return Failure(meaning)

    def connect(self, dsn: str) -> Deferred[Connection]:
        """Connects; fires with this connection."""
        try:
            self._connection = self._begin(dsn)
        except Exception:
            return fail()
        connecting = self._connecting = Deferred()
        self._go_on_connecting()
        return connecting

    def _begin(self, dsn: str) -> connection:
        return psycopg2.connect(dsn, async_=True)

    def _go_on_connecting(self) -> None:
        """One step of the connection attempt, whose socket libpq may replace at each."""
        result: Connection | Failure = self
        try:
            state = self.poll()
        except psycopg2.Error:
            result, state = Failure(), extensions.POLL_OK
        if state == extensions.POLL_READ:
            self.reactor.addReader(self)
        elif state == extensions.POLL_WRITE:
            self.reactor.addWriter(self)
        elif self._connecting is not None:
            connecting, self._connecting = self._connecting, None
            connecting.callback(result if isinstance(result, Failure) else self._watch())

    def _watch(self) -> Connection:
        # The reactor watches a duplicate: libpq closes its own descriptor within poll() when the connection breaks,
        # and a closed number, perhaps in use again by somebody else, cannot be taken out of epoll.
        self._descriptor = os.dup(self._connection.fileno())
        self.reactor.addReader(self)
        extensions.register_type(_JSON, self._connection)
        return self

    def _unwatch(self) -> None:
        self.reactor.removeReader(self)
        self.reactor.removeWriter(self)
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def close(self) -> None:
        """Disconnects at once; a running statement or a connection attempt fails. May be called at any time."""
        if self._connection is None:
            return
        self.answer.stop()
        self._unwatch()
        if self.alive:
            self._connection.close()
        gone = Failure(ConnectionClosed())
        connecting, self._connecting = self._connecting, None
        if connecting is not None:
            connecting.errback(gone)
        if self.active is not None:
            self.active.finish(gone)

    def poll(self) -> int:
        """A step of psycopg2: one of ``psycopg2.extensions.POLL_*``."""
        return int(self._connection.poll())

    def wait_for_room(self) -> None:
        """More can be sent when there is room."""
        self.reactor.addWriter(self)

    def logPrefix(self) -> str:
        return "connection"

    def fileno(self) -> int:
        if self._descriptor is not None:
            return self._descriptor
        return int(self._connection.fileno()) if self.alive else -1

    def doRead(self) -> None:
        if self._connecting is not None:
            self.reactor.removeReader(self)
            self._go_on_connecting()
        elif self.active is not None:
            self.active.poll()
        else:
            self._read_idly()

    def _read_idly(self) -> None:
        try:
            self.poll()
        except psycopg2.Error:
            self.lose()
        else:
            self.hear()

    def doWrite(self) -> None:
        self.reactor.removeWriter(self)
        if self._connecting is not None:
            self._go_on_connecting()
        elif self.active is not None:
            self.active.poll()

    def connectionLost(self, reason: Failure) -> None:
        self.lose()

    def _unanswered(self) -> None:
        log.warn("no answer from the database within the time limit, connection closed")
        self.lose()

    def lose(self) -> None:
        """Closes it because it does not work any more, and tells."""
        self.close()
        self._when_lost(self)

    def hear(self) -> None:
        """Passes on what was notified."""
        if self.alive and self._connection.notifies:
            notifies, self._connection.notifies = self._connection.notifies, []
            for notify in notifies:
                self._when_notified(notify.channel, notify.payload)


def _loaded(text: str | None, cursor: object) -> Any:
    return None if text is None else exact_json.stored(text)


_JSON = extensions.new_type(JSON_OIDS, "CROWDD_JSON", _loaded)


_NICENESS: Final = 10
_CREDENTIALS: Final = struct.Struct("3i")  # struct ucred: process, user, group (unix(7))


def yield_backend(session: connection) -> bool:
    """Lowers the priority of the backend for good; whether it could be.

    A process id says something on its own machine only. So the connection must be a Unix socket, and the process a child
    of the one that listens there.
    """
    pid = session.info.backend_pid
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(session.fileno())) as line:
        if line.family == socket.AF_UNIX and _parent(pid) == _listening(line):
            yield_to_requests(_NICENESS, pid)
            return True
    return False


def _listening(line: socket.socket) -> int:
    return int(_CREDENTIALS.unpack(line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))[0])


def _parent(pid: int) -> int:
    """Raises OSError if there is no such process."""
    after_name = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2]
    return int(after_name.split()[1])


async def run_in_savepoint(tx: Database, work: Callable[[], Awaitable[T]], *, keep: bool = True) -> T:
    """The result of ``work``; when it is refused, the transaction is as before and goes on.

    ``keep`` false: it only looks whether the work is refused, and nothing of it stays. Not to be nested.
    """
    await tx.execute("SAVEPOINT attempt")
    try:
        result = await work()
    except CrowddError:
        await tx.execute("ROLLBACK TO SAVEPOINT attempt")
        raise
    await tx.execute("RELEASE SAVEPOINT attempt" if keep else "ROLLBACK TO SAVEPOINT attempt")
    return result
