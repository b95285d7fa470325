"""One session with PostgreSQL, on txpostgres, and what its errors mean.

A connection is only ever used by one caller at a time; ``crowdd.storage.pool`` sees to that. Host names in the DSN are
resolved by libpq while the reactor stands still, so the DSN should name a socket directory or an address.
"""

import os
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import orjson
import psycopg2
from psycopg2 import errorcodes, extensions
from twisted.internet.defer import CancelledError, Deferred, fail
from twisted.internet.error import ConnectionClosed
from twisted.internet.task import deferLater
from twisted.logger import Logger, LogLevel
from twisted.python.failure import Failure
from txpostgres import txpostgres

from crowdd.errors import ConfigError, ConflictError, InvalidValueError, StatementTimeoutError, UnavailableError
from crowdd.storage.database import Prepared, Row, Statement, Values
from crowdd.storage.places import Places

T = TypeVar("T")

JSON_OIDS = (114, 3802)  # json, jsonb
FIRST_PAUSE, LONGEST_PAUSE, PAUSE_GROWTH = 0.1, 2.0, 1.7  # seconds, seconds, factor
UNAVAILABLE_CLASSES = ("08", "53", "57P", "25006")  # connection, resources, shutdown; a standby, or read-only
INVALID_CLASSES = ("22", "54")  # data exception, limit of the program
LOST_CLASSES = ("08", "57P", "25P03", "25P04")  # the latter: idle too long in a transaction, transaction too long
# libpq has no SQLSTATE for a refused connection, only text. A server that speaks another language is taken for one that
# is away, and tried again.
REFUSED_FOR_GOOD = re.compile(
    r'authentication failed|no password supplied|no pg_hba\.conf entry|(database|role) ".*" does not exist'
    r"|permission denied for database|not permitted to log in|invalid (dsn|connection option|port number|sslmode value)"
)
# Likewise: the server runs and knows us, but has no place for a further session.
FULL = re.compile(r"too many (connections|clients)|connection slots")

log = Logger()


def shield(running: Deferred[T], withdraw: Callable[[], None] = lambda: None) -> Deferred[T]:
    """A Deferred that follows ``running`` and whose cancellation does not reach it.

    A statement on the wire has to be finished before its connection may be used again, whoever has gone in the
    meantime. ``withdraw`` is called on cancellation and may take back what has not begun.
    """
    outer: Deferred[T] = Deferred(lambda _: withdraw())

    def passed(result: T) -> None:
        if not outer.called:
            outer.callback(result)

    def failed(failure: Failure) -> None:
        if not outer.called:
            outer.errback(failure)
        elif not failure.check(CancelledError):
            log.failure("Work failed after its caller had gone", failure, LogLevel.warn)

    running.addCallbacks(passed, failed)
    return outer


def rows(cursor: Any) -> list[Row]:
    """All rows of a finished statement by column name; none for a statement that returns no rows."""
    if cursor.description is None:
        return []
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def row_count(cursor: Any) -> int:
    """How many rows a finished statement touched or returned; 0 where PostgreSQL does not say."""
    return max(cursor.rowcount, 0)


def domain_error(error: Exception, *, lost: bool, uncertain: bool) -> Exception:
    """What an error of psycopg2 means to us; errors without a meaning of their own are returned as they are.

    ``lost``: the connection is gone. ``uncertain``: if it is, nobody knows whether the statement took effect.
    """
    code = getattr(error, "pgcode", None) or ""
    if lost or code.startswith(UNAVAILABLE_CLASSES):
        return UnavailableError(_away(code), uncertain=lost and uncertain)
    if code == errorcodes.QUERY_CANCELED:
        return _cancelled(error)
    if code == errorcodes.LOCK_NOT_AVAILABLE:
        return UnavailableError("The row is busy.", retry_after=1)
    if code in (errorcodes.UNIQUE_VIOLATION, errorcodes.FOREIGN_KEY_VIOLATION):
        return _conflict(error)
    if code.startswith(INVALID_CLASSES) or _is_no_text(error):
        return InvalidValueError("A value is too large or of the wrong form.")
    return error


def _away(code: str) -> str:
    if code == errorcodes.READ_ONLY_SQL_TRANSACTION:
        return "The database takes no changes."
    return "The database cannot be reached."


def _is_no_text(error: Exception) -> bool:
    """Whether psycopg2 refused a text before sending it: a NUL or a lone surrogate."""
    return isinstance(error, UnicodeEncodeError) or (isinstance(error, ValueError) and "NUL" in str(error))


def _cancelled(error: Any) -> Exception:
    # One SQLSTATE for both; we never cancel, so what is not an operator's pg_cancel_backend() is the time limit.
    if "user request" in str(error):
        return UnavailableError("The statement was cancelled by an operator.")
    return StatementTimeoutError("The statement took longer than allowed.")


def _conflict(error: Any) -> ConflictError:
    words = {
        errorcodes.UNIQUE_VIOLATION: "A value that must be unique is taken.",
        errorcodes.FOREIGN_KEY_VIOLATION: "Something else still refers to it, or it refers to something that is not there.",
    }
    return ConflictError(
        words[error.pgcode],
        constraint=error.diag.constraint_name or "",
        table=error.diag.table_name or "",
    )


class Cursor(txpostgres.Cursor):
    """A cursor that leaves the socket registered with the reactor.

    The stock one removes and adds the reader at each statement and delivers its result a turn of the reactor late.
    """

    def poll(self) -> "Deferred[Cursor]":
        polling: Deferred[Cursor] = Deferred()
        self._pollingD: Deferred[Cursor] | None = polling
        self._connection.active = self
        self.continuePolling()
        return polling

    def continuePolling(self, swallowErrors: bool = False) -> None:
        result: Cursor | Failure = self
        try:
            state = self.pollable().poll()
        except Exception:
            result, state = Failure(), extensions.POLL_OK
        if state == extensions.POLL_OK:
            self.finish(result)
        elif state == extensions.POLL_WRITE:
            self.reactor.addWriter(self._connection)

    def finish(self, result: "Cursor | Failure") -> None:
        """Ends the statement with its cursor or its failure."""
        polling, self._pollingD, self._connection.active = self._pollingD, None, None
        if polling is not None:
            polling.callback(result)


class Connection(txpostgres.Connection):
    """A connection that tells when it was lost and when it may be used again.

    ``when_lost(connection)`` is called when it is lost, after a running statement has failed; ``when_notified(channel,
    payload)`` for each NOTIFY.
    """

    cursorFactory = Cursor
    active: Cursor | None = None
    _connection: Any = None
    _pollingD: "Deferred[Connection] | None" = None
    _descriptor: int | None = None

    def __init__(
        self,
        reactor: Any,
        when_lost: "Callable[[Connection], None]",
        when_notified: Callable[[str, str], None] = lambda channel, payload: None,
    ) -> None:
        super().__init__(reactor)
        self._when_lost = when_lost
        self._when_notified = when_notified
        self._prepared: set[str] = set()

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

    def run(self, sql: Statement, values: Values = None, *, commits: bool = False) -> "Deferred[Cursor]":
        """Executes one statement; fires with the finished cursor.

        ``commits`` says that success makes something permanent: if the connection is lost on the way, the
        UnavailableError is then marked uncertain. Cancelling the result only ends the waiting: the statement goes on,
        and until its end the connection is not idle.
        """
        if not self.alive:
            return fail(UnavailableError("The database connection was lost."))
        if isinstance(sql, Prepared):
            if sql.name not in self._prepared:
                return self._prepare(sql).addCallback(lambda _: self.run(sql, values, commits=commits))
            sql = sql.call
        return self.cursor().execute(sql, values).addErrback(self._explain, commits)

    def _prepare(self, sql: Prepared) -> "Deferred[Cursor]":
        def known(cursor: Cursor) -> Cursor:
            self._prepared.add(sql.name)
            return cursor

        return self.run(sql.definition).addCallback(known)

    def _explain(self, failure: Failure, commits: bool) -> Failure:
        error: Any = failure.value
        code = getattr(error, "pgcode", None) or ""
        if not self.alive or code.startswith(LOST_CLASSES):
            self.lose()
        meaning = domain_error(error, lost=not self.alive, uncertain=commits)
        if meaning is error:
            return failure
        meaning.__cause__ = error
        return Failure(meaning)

    def connect(self, *arguments: Any, **keywords: Any) -> "Deferred[Connection]":
        return super().connect(*arguments, **keywords).addCallback(self._watch)

    def _watch(self, result: "Connection") -> "Connection":
        # The reactor watches a duplicate: libpq closes its own descriptor within poll() when the connection breaks,
        # and a closed number, perhaps in use again by somebody else, cannot be taken out of epoll.
        self.reactor.removeReader(self)
        self._descriptor = os.dup(self._connection.fileno())
        self.reactor.addReader(self)
        extensions.register_type(_JSON, self._connection)
        return result

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
        self._unwatch()
        if self.alive:
            self._connection.close()
        gone = Failure(ConnectionClosed())
        connecting, self._pollingD = self._pollingD, None
        if connecting is not None:
            connecting.errback(gone)
        if self.active is not None:
            self.active.finish(gone)

    def fileno(self) -> int:
        return super().fileno() if self._descriptor is None else self._descriptor

    def doRead(self) -> None:
        if self._pollingD is not None:
            self.reactor.removeReader(self)
            self.continuePolling()
        elif self.active is not None:
            self.active.continuePolling()
        else:
            self._read_idly()

    def _read_idly(self) -> None:
        try:
            self._connection.poll()
        except psycopg2.Error:
            self.connectionLost(Failure())
        else:
            self.checkForNotifies()

    def doWrite(self) -> None:
        self.reactor.removeWriter(self)
        if self.alive:
            (self.active or self).continuePolling()

    def connectionLost(self, reason: Failure) -> None:
        self.lose()

    def lose(self) -> None:
        """Closes it because it does not work any more, and tells."""
        self.close()
        self._when_lost(self)

    def cursorRunning(self, cursor: Cursor) -> None:
        """Nothing to do: the reader stays."""

    def cursorFinished(self, cursor: Cursor) -> None:
        if self.alive:
            self.checkForNotifies()

    def checkForNotifies(self) -> None:
        # Not the stock dispatch, which goes through the global cooperator and with it the global reactor.
        if self._connection.notifies:
            notifies, self._connection.notifies = self._connection.notifies, []
            for notify in notifies:
                self._when_notified(notify.channel, notify.payload)


class Connector:
    """Opens connections to one database, and gives up an attempt after ``seconds``."""

    def __init__(self, reactor: Any, dsn: str, *, seconds: float, places: Places) -> None:
        self._reactor, self._dsn, self._seconds, self._places = reactor, dsn, seconds, places
        self._opening: set[Connection] = set()
        self._pauses: set[Deferred[None]] = set()
        self._wanting: Callable[[], bool] | None = None
        self._stopped = False
        places.join(self)

    @property
    def lacks_any(self) -> bool:
        """Whether a connection is wanted by somebody who has none."""
        return self._wanting is not None and not self._stopped and self._wanting()

    def stop(self) -> None:
        """Breaks off attempts and pauses; whoever waits for a connection gets UnavailableError."""
        self._stopped = True
        for connection in [*self._opening]:
            connection.close()
        for pause in [*self._pauses]:
            pause.cancel()

    async def open(
        self,
        make: Callable[[Any], Connection],
        setup: Sequence[str] = (),
        *,
        strict: bool = False,
        first: Callable[[], bool] = lambda: True,
    ) -> Connection:
        """A connection that ``make(reactor)`` made and that has run the statements of ``setup``, however long it takes.

        A failed attempt is followed by a pause. With ``strict`` one that no patience can help (no such database, wrong
        password, an error in a setup statement) raises ConfigError. Raises UnavailableError once stopped. ``first``
        says whether whom it is for has none at the moment. Ask for one at a time.
        """
        self._wanting = first
        try:
            return await self._persist(make, setup, strict)
        finally:
            self._wanting = None

    async def _persist(self, make: Callable[[Any], Connection], setup: Sequence[str], strict: bool) -> Connection:
        pause = FIRST_PAUSE
        while not self._stopped:
            if self._places.reserved(self):
                await self._rest(FIRST_PAUSE)
                continue
            try:
                return await self._attempt(make(self._reactor), setup)
            except Exception as error:
                if strict and is_permanent(error):
                    raise ConfigError(f"The database refuses the connection: {first_line(error)}") from error
                if not self._stopped:
                    log.warn("Cannot connect to the database: {error}", error=first_line(error))
                    if self.lacks_any and FULL.search(str(error)):
                        self._places.make_room()
                    await self._rest(pause)
            pause = min(pause * PAUSE_GROWTH, LONGEST_PAUSE)
        raise UnavailableError("The database connections are being closed.")

    async def _attempt(self, connection: Connection, setup: Sequence[str]) -> Connection:
        # libpq ignores connect_timeout in asynchronous mode.
        timer = self._reactor.callLater(self._seconds, connection.close)
        self._opening.add(connection)
        try:
            await connection.connect(self._dsn)
            for statement in setup:
                await connection.run(statement)
        except Exception:
            connection.close()
            raise
        finally:
            self._opening.discard(connection)
            if timer.active():
                timer.cancel()
        return connection

    async def _rest(self, seconds: float) -> None:
        pause: Deferred[None] = deferLater(self._reactor, seconds)
        self._pauses.add(pause)
        try:
            await pause
        except CancelledError:
            pass
        finally:
            self._pauses.discard(pause)


def is_permanent(error: Exception) -> bool:
    """Whether connecting again would fail in the same way: the settings are wrong, not the weather."""
    if isinstance(error, psycopg2.OperationalError):
        return bool(REFUSED_FOR_GOOD.search(str(error)))
    return isinstance(error, psycopg2.ProgrammingError | InvalidValueError | psycopg2.NotSupportedError)


def first_line(error: Exception) -> str:
    """The first line of an error's text."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _loaded(text: str | None, cursor: Any) -> Any:
    return None if text is None else orjson.loads(text)


_JSON = extensions.new_type(JSON_OIDS, "CROWDD_JSON", _loaded)
