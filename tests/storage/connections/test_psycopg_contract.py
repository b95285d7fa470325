"""What ``crowdd.database.connection`` relies on in psycopg2 and Twisted, one statement per test.

A version that breaks one of them fails here first, by the name of what it broke. Record 58 says what to do then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg2
import pytest
import pytest_twisted
from psycopg2 import extensions
from support.until import in_time
from twisted.internet import reactor
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.error import ConnectionClosed
from twisted.internet.interfaces import IReadWriteDescriptor
from twisted.python.failure import Failure

from crowdd.database.connection import Connection, Cursor
from crowdd.kernel.errors import InvalidValueError


def ignore(connection: object) -> None:
    """Nobody has to know that it was lost."""


@pytest_twisted.async_yield_fixture
async def connect(dsn):
    """Opens connections that are closed after the test."""
    made: list[Connection] = []

    async def connected(name: str = dsn, **options: Any) -> Connection:
        connection = Connection(reactor, options.pop("when_lost", ignore), **options)
        made.append(connection)
        await connection.connect(name)
        return connection

    yield connected
    for connection in made:
        connection.close()
    assert not {*made} & {*reactor.getReaders(), *reactor.getWriters()}


@in_time
async def test_a_connection_is_a_descriptor_of_the_reactor(connect):
    connection = await connect()
    assert IReadWriteDescriptor.providedBy(connection) and connection in reactor.getReaders()
    assert connection not in reactor.getWriters() and connection.logPrefix() == "connection"
    assert connection._connection.async_ == 1 and connection._connection.closed == 0
    connection.close()
    assert connection._connection.closed == 1 and connection.fileno() == -1


@in_time
async def test_connecting_waits_in_the_reactor_and_fires_with_the_connection(dsn):
    connection = Connection(reactor, ignore)
    connecting = connection.connect(dsn)
    assert not connecting.called
    assert connection in {*reactor.getReaders(), *reactor.getWriters()}
    assert await connecting is connection and connection.idle
    connection.close()


@in_time
async def test_connecting_that_cannot_begin_or_go_on_fails_and_raises_nothing(connect):
    for wrong, why in (("nonsense", psycopg2.ProgrammingError), ("host=/nonexistent", psycopg2.OperationalError)):
        with pytest.raises(why):
            await connect(wrong)


@in_time
async def test_closing_while_it_connects_fails_what_waits_and_leaves_nothing(dsn):
    connection = Connection(reactor, ignore)
    connecting = connection.connect(dsn)
    connection.close()
    with pytest.raises(ConnectionClosed):
        await connecting
    assert connection not in {*reactor.getReaders(), *reactor.getWriters()}


@in_time
async def test_a_statement_begins_polls_and_ends_in_this_order(connect, monkeypatch):
    connection, seen = await connect(), []
    for owner, name in ((Cursor, "poll"), (Connection, "hear")):
        _noting(monkeypatch, connection, owner, name, seen)
    cursor = await connection.run("SELECT %s AS n, pg_sleep(0.05)", (3,))
    assert isinstance(cursor, Cursor) and seen == ["poll", "poll", "hear"]
    assert cursor.rowcount == 1 and cursor.description[0][0] == "n" and [row[0] for row in cursor.fetchall()] == [3]


def _noting(monkeypatch: pytest.MonkeyPatch, of: Connection, owner: type, name: str, seen: list[str]) -> None:
    """Notes the calls for this connection; a server of a test before may still have others."""
    original: Callable[..., Any] = getattr(owner, name)

    def noting(*arguments: Any) -> Any:
        if arguments[0] is of or getattr(arguments[0], "_connection", None) is of:
            seen.append(name)
        return original(*arguments)

    monkeypatch.setattr(owner, name, noting)


@in_time
async def test_a_statement_that_psycopg2_refuses_fails_and_never_begins(connect, monkeypatch):
    connection, seen = await connect(), []
    _noting(monkeypatch, connection, Cursor, "poll", seen)
    refused = connection.run("SELECT %s", ("a\0b",))
    assert isinstance(refused.result, Failure) and refused.result.check(InvalidValueError) and seen == []
    refused.addErrback(ignore)
    assert (await connection.run("SELECT 1")).fetchall() == [(1,)]


@in_time
async def test_a_result_is_delivered_in_the_turn_in_which_it_arrives(connect):
    connection, order = await connect(), []
    statement = connection.run("SELECT pg_sleep(0.05)")  # else it may be there at once
    assert connection in reactor.getReaders() and connection.active is not None
    statement.addCallback(lambda cursor: order.append("result"))
    polled = connection.active.poll

    def poll() -> None:
        polled()
        order.append("polled")

    connection.active.poll = poll
    await statement
    await connection.run("SELECT pg_sleep(0.05)")  # not there at once either
    assert order[:2] == ["result", "polled"]


@in_time
async def test_cancelling_ends_the_waiting_and_not_the_statement(connect):
    connection = await connect()
    await connection.run("CREATE TEMPORARY TABLE done (n int)")
    statement = connection.run("INSERT INTO done SELECT 1 FROM pg_sleep(0.2)")
    ended: Deferred[None] = Deferred()
    finish = connection.active.finish

    def finished(result: object) -> None:
        finish(result)
        ended.callback(None)

    connection.active.finish = finished
    statement.cancel()
    with pytest.raises(CancelledError):
        await statement
    assert not connection.idle and connection.status == extensions.TRANSACTION_STATUS_ACTIVE
    await ended
    assert connection.idle
    assert (await connection.run("SELECT n FROM done")).fetchall() == [(1,)]


@in_time
async def test_psycopg2_polls_and_notifies_as_it_does(connect):
    """The protocol of asynchronous connections, on its own."""
    assert (extensions.POLL_OK, extensions.POLL_READ, extensions.POLL_WRITE) == (0, 1, 2)
    connection = await connect()
    plain = connection._connection
    assert plain.poll() == extensions.POLL_OK and plain.notifies == [] and plain.autocommit
    assert plain.get_transaction_status() == extensions.TRANSACTION_STATUS_IDLE
    running = connection.run("LISTEN there; SELECT pg_notify('there', 'x'), pg_sleep(0.05)")
    assert plain.isexecuting() and plain.get_transaction_status() == extensions.TRANSACTION_STATUS_ACTIVE
    with pytest.raises(psycopg2.ProgrammingError):
        plain.cursor().execute("SELECT 2")  # one at a time
    await running
    assert plain.notifies == [], "taken as soon as the statement ended"


@in_time
async def test_a_session_that_ends_is_found_by_reading(connect, pool):
    lost: Deferred[Connection] = Deferred()
    connection = await connect(when_lost=lost.callback)
    pid = connection._connection.get_backend_pid()
    await pool.fetch("SELECT pg_terminate_backend(%s)", (pid,))
    assert await lost is connection and not connection.alive
    assert connection not in {*reactor.getReaders(), *reactor.getWriters()}
