"""COPY ... TO STDOUT, piece by piece: each on a connection and in a thread of its own, because the protocol of COPY needs
calls that wait.

A row arrives as the bytes that PostgreSQL has made of it. While nobody asks for the next piece the thread waits, then
the buffers of the connection are full, and then PostgreSQL waits, too.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Generator, Sequence
from threading import Event, Lock, Thread
from typing import Final

import attrs
import psycopg2
from psycopg2.extensions import connection
from twisted.internet.defer import Deferred

from crowdd.database.access import Database, Values, one
from crowdd.database.connection import yield_backend
from crowdd.database.connector import noticing_silence
from crowdd.database.errors import domain_error
from crowdd.kernel.errors import UnavailableError
from crowdd.kernel.reactor import IReactor

_CONNECT_SECONDS: Final = 5


@attrs.frozen
class Piece:
    """The next rows, put together, and how many there are."""

    content: bytes
    rows: int


class Copies:
    """Opens them. ``setup`` are statements that each connection runs first. ``replica_dsn``: where transactions of a
    replica run, if there is one.
    """

    def __init__(self, reactor: IReactor, dsn: str, setup: Sequence[str], replica_dsn: str = "") -> None:
        self._reactor, self._setup = reactor, tuple(setup)
        self._dsn, self._replica_dsn = noticing_silence(dsn), noticing_silence(replica_dsn)
        self._open: set[Copy] = set()

    async def open(
        self, tx: Database, query: str, options: str, values: Values, between: bytes, settings: Sequence[str] = ()
    ) -> Copy:
        """The rows of a query as of the moment that a REPEATABLE READ transaction sees, with options of COPY.

        ``settings`` are statements before it. ``between`` stands between two rows, in the place of the line break that COPY ends each with. Close it.
        Raises UnavailableError, or what is wrong with the query.
        """
        row = await one(tx, "SELECT pg_export_snapshot() AS id, pg_is_in_recovery() AS on_replica")
        snapshot, dsn = row["id"], self._replica_dsn if row["on_replica"] else self._dsn
        begin = (
            *self._setup, "SET statement_timeout = 0", "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
            f"SET TRANSACTION SNAPSHOT '{snapshot}'", *settings,
        )  # fmt: skip
        copy = Copy(self._reactor, between, self._open.discard)
        self._open.add(copy)
        try:
            await copy.begin(dsn, "; ".join(begin), f"COPY ({query}) TO STDOUT ({options})", values)
        except BaseException:
            copy.close()
            raise
        return copy

    def close(self) -> None:
        """Breaks off what is under way."""
        for copy in [*self._open]:
            copy.close()


@attrs.frozen
class _File:
    """What psycopg2 takes for a file: ``write`` is called with each row."""

    write: Callable[[bytes], object]


class Copy:
    """Rows on their way. ``next`` is asked once at a time."""

    def __init__(self, reactor: IReactor, between: bytes, gone: Callable[[Copy], object]) -> None:
        self._reactor, self._between, self._gone = reactor, between, gone
        self._waiting: Deferred[Piece | None] | None = None
        self._go, self._closed = Event(), False
        self._rows: list[bytes] = []
        self._max_rows = self._max_bytes = 0
        self._descriptor: int | None = None  # of the connection, while the thread has it
        self._lock = Lock()

    async def begin(self, dsn: str, setup: str, statement: str, values: Values) -> None:
        """Connects and prepares the transaction."""
        self._waiting = Deferred()
        Thread(target=self._run, args=(dsn, setup, statement, values), name="copy", daemon=True).start()
        await self._waiting

    async def next(self, max_rows: int, max_bytes: int) -> Piece | None:
        """The next rows: at most so many, and none after so many bytes. None behind the last."""
        if self._closed:
            raise UnavailableError("The database connections are being closed.")
        self._max_rows, self._max_bytes = max_rows, max_bytes
        self._waiting = Deferred()
        self._go.set()
        return await self._waiting

    def close(self) -> None:
        """Ends it, however far it is. May be called at any time."""
        if self._closed:
            return
        self._closed = True
        self._gone(self)
        self._go.set()
        # The thread may wait for PostgreSQL within libpq: an end of the connection is what wakes it there.
        with self._lock:
            if self._descriptor is not None:
                with contextlib.suppress(OSError), socket.socket(fileno=os.dup(self._descriptor)) as line:
                    line.shutdown(socket.SHUT_RDWR)
        self._answer(UnavailableError("The database connections are being closed."))

    # In the thread

    def _collect(self) -> Generator[None, bytes, None]:
        """Is sent rows with their line breaks; waits while nobody wants the piece that they fill."""
        # This runs for each row. A function would cost twice as much.
        rows, size = self._rows, 0
        while True:
            row = yield
            rows.append(row)
            size += len(row)
            if size >= self._max_bytes or len(rows) >= self._max_rows:
                self._deliver()
                size = 0

    def _run(self, dsn: str, setup: str, statement: str, values: Values) -> None:
        try:
            with contextlib.closing(psycopg2.connect(dsn, connect_timeout=_CONNECT_SECONDS)) as session:
                self._copy(session, setup, statement, values)
        except Exception as error:
            self._tell(domain_error(error, lost=isinstance(error, psycopg2.OperationalError), uncertain=False))

    def _copy(self, session: connection, setup: str, statement: str, values: Values) -> None:
        yield_backend(session)
        session.autocommit = True  # the statements of ``setup`` begin the transaction
        self._descriptor = os.dup(session.fileno())
        try:
            with session.cursor() as cursor:
                cursor.execute(setup)
                self._tell(None)
                self._wait()
                collecting = self._collect()
                next(collecting)
                cursor.copy_expert(cursor.mogrify(statement, values), _File(collecting.send))
            if self._rows:
                self._deliver()
            self._tell(None)
        finally:
            with self._lock:
                descriptor, self._descriptor = self._descriptor, None
                os.close(descriptor)

    def _deliver(self) -> None:
        piece = Piece(_joined(self._rows, self._between), len(self._rows))
        self._rows.clear()
        self._tell(piece)
        self._wait()

    def _wait(self) -> None:
        self._go.wait()
        self._go.clear()
        if self._closed:
            raise UnavailableError("The reader has stopped reading.")

    def _tell(self, outcome: Piece | Exception | None) -> None:
        self._reactor.callFromThread(self._answer, outcome)

    # In the reactor

    def _answer(self, outcome: Piece | Exception | None) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return
        if isinstance(outcome, Exception):
            waiting.errback(outcome)
        else:
            waiting.callback(outcome)


def _joined(rows: Sequence[bytes], between: bytes) -> bytes:
    """Rows, which end in a line break each, with ``between`` in its place and none behind the last."""
    content = b"".join(rows)[:-1]
    if between == b"\n":
        return content
    if content.count(b"\n") == len(rows) - 1:  # none within a row
        return content.replace(b"\n", between)
    return between.join(row[:-1] for row in rows)
