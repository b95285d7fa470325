"""A pool of database connections, its wait queue, and connections beside it for long or slow reads.

The pool survives cancelled callers, a restarted server and overload. It promises:

* No cancellation reaches a statement or transaction that has begun: it runs to its end (a transaction to its commit),
  only its caller no longer waits. A caller that leaves while waiting for a connection is taken out of the queue.
* A connection goes to the next caller only when it is idle and outside a transaction; otherwise it is closed and
  replaced. What a caller sets for the session (SET, temporary tables, session locks) stays: use SET LOCAL.
* Lost connections are replaced without being asked, also when the server is down at the start.
* Connections that keep the room for a long row are replaced while they are free, one in half a second: a new one is
  slow at first.
* The queue is first come, first served, bounded in length and in time; the connection used last is used next.

Results are held in memory as a list of dicts and parsed while the reactor stands still (2 to 6 ms per thousand rows):
exports and other large results are not the pool's work. They use connections of their own, opened for one transaction
each, so that no request waits for them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Generic, TypeVar

import attrs
from attrs import frozen
from twisted.internet.defer import CancelledError, Deferred, ensureDeferred, fail, succeed
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.python.failure import Failure

from crowdd.database.access import Database, Reading, Row, Statement, Values
from crowdd.database.connection import Connection, Cursor, in_background, row_count, rows
from crowdd.database.connector import ConnectionBudget, Connector, Hosts
from crowdd.database.listener import Listener, Observer
from crowdd.database.transaction import Transaction, rerun
from crowdd.kernel.concurrency.throttling import Turns
from crowdd.kernel.concurrency.timing import deadline, shield
from crowdd.kernel.errors import CrowddError, NoConnectionError, NoSpaceError
from crowdd.kernel.reactor import IReactor

T = TypeVar("T")
RENEWAL_SECONDS = 0.5  # between replacements of connections that keep much memory


class WaitQueue(Generic[T]):
    """Callers who wait for a thing, first come, first served; ``maximum`` of them, each for at most ``seconds``.

    ``trouble`` says in a sentence why there are none; "" if they are only busy.
    """

    def __init__(
        self, clock: IReactorTime, *, maximum: int, seconds: float, trouble: Callable[[], str] = lambda: ""
    ) -> None:
        self._trouble = trouble
        self._clock, self._maximum, self._seconds = clock, maximum, seconds
        self._timers: OrderedDict[Deferred[T], IDelayedCall] = OrderedDict()

    def __len__(self) -> int:
        return len(self._timers)

    def join(self) -> Deferred[T]:
        """A place in the queue, fires with the thing; NoConnectionError at once when full, else when time is up."""
        if len(self) >= self._maximum:
            return fail(NoConnectionError("Too many requests are waiting for the database.", retry_after=1))
        place: Deferred[T] = Deferred()
        self._timers[place] = self._clock.callLater(self._seconds, self._expire, place)
        return place

    def leave(self, place: Deferred[T], error: Exception) -> None:
        """Fails the place with ``error``; without effect on one that was served or has left."""
        timer = self._timers.pop(place, None)
        if timer is not None:
            timer.cancel()
            place.errback(error)

    def serve(self, thing: T) -> None:
        """Gives the thing to the first in the queue."""
        place, timer = self._timers.popitem(last=False)
        timer.cancel()
        place.callback(thing)

    def dismiss(self, message: str) -> None:
        """Sends everybody away with NoConnectionError."""
        for place in [*self._timers]:
            self.leave(place, NoConnectionError(message))

    def _expire(self, place: Deferred[T]) -> None:
        del self._timers[place]
        words = self._trouble() or f"No database connection became free within {self._seconds:g} seconds."
        place.errback(NoConnectionError(words))


@frozen
class PoolFigures:
    """The pool at this moment. ``size`` is the number wanted; ``size - free - busy`` connections are missing."""

    size: int
    free: int
    busy: int
    waiting: int


class Pool:
    """Connections to one database, shared by all requests of a process.

    ``dsn`` is libpq's and should name a socket directory or addresses, since names are resolved while the reactor
    stands still. It may name several servers (``Hosts``). ``setup`` are statements that each new connection runs first (PREPARE, SET). At most ``max_waiting``
    callers wait for a connection, each for ``timeout``; an attempt to connect is given up after
    ``connect_seconds``, and a connection once a statement got no answer for ``answer_timeout``. Pools of one process that share ``budget`` leave each other at least one connection.
    """

    def __init__(
        self,
        reactor: IReactor,
        dsn: str,
        *,
        size: int = 8,
        max_queue: int = 1000,
        timeout: float = 5.0,
        answer_timeout: float | None = None,
        connect_seconds: float = 10.0,
        setup: Sequence[str] = (),
        budget: ConnectionBudget | None = None,
    ) -> None:
        self._reactor = reactor
        self._size, self._answer_timeout = size, answer_timeout
        self._setup = tuple(setup)
        budget = ConnectionBudget() if budget is None else budget
        budget.lend(self._give_up_one)
        hosts = Hosts.of(dsn)
        self._connector = Connector(reactor, hosts, seconds=connect_seconds, budget=budget)
        self._listener = Listener(Connector(reactor, hosts, seconds=connect_seconds, budget=budget))
        self._queue: WaitQueue[Connection] = WaitQueue(
            reactor,
            maximum=max_queue,
            seconds=timeout,
            trouble=lambda: self._connector.trouble if self._has_none() else "",
        )
        self._free: list[Connection] = []
        self._busy: set[Connection] = set()
        self._started: Deferred[Pool] = Deferred()
        self._closed: Deferred[None] | None = None
        self._refilling = self._handing_out = False
        self._renewal: IDelayedCall | None = None
        self.no_space = False  # see ``Transactions``

    def start(self) -> Deferred[Pool]:
        """Fires with the pool at the first connection, and keeps trying while the server is away.

        Fails with ConfigError at once when trying again cannot help: wrong password, no such database or role, no
        permission, invalid DSN, an error in ``setup``. (libpq gives the reason as text only: from a server that speaks
        another language than English, such refusals are logged and tried again.) Call it once.
        """
        in_background(ensureDeferred(self._refill()))
        return shield(self._started)

    def close(self) -> Deferred[None]:
        """Refuses new work, sends the waiting away, lets running work end, then disconnects and fires.

        Cancelling it disconnects without waiting any longer; what still runs then fails with UnavailableError. (The
        server may go on with such a statement until it notices: see its ``client_connection_check_interval``.)
        """
        if self._closed is None:
            self._closed = Deferred()
            self._connector.stop()
            self._listener.close()
            self._queue.dismiss("The database connections are being closed.")
            if self._renewal is not None:
                self._renewal.cancel()
                self._renewal = None
            self._finish()
        return shield(self._closed, self._break_off)

    async def fetch(self, sql: Statement, values: Values = None) -> list[Row]:
        """The rows of a statement that commits by itself, each a dict by column name.

        ``values`` fill ``%s`` (a sequence) or ``%(name)s`` (a mapping); with None a ``%`` in ``sql`` is just that. A
        dict goes in as ``psycopg2.extras.Json``, a list as an array. json and jsonb come back as Python values, arrays
        as lists, timestamptz as aware datetimes.

        A statement that is ``Prepared`` is planned once per connection.

        Raises UnavailableError (NoConnectionError when the queue is full or time is up; lock_timeout, or deadlocks
        without end; its ``uncertain`` is true when the connection was lost while the statement ran), StatementTimeoutError,
        ConflictError (a unique constraint), ValueError for a NUL byte, UnicodeEncodeError for a lone surrogate; other
        errors come as psycopg2 raises them. A statement that fails by deadlock, by serialisation or because an upgrade
        replaces what it uses is run again, at most three times.
        """
        return await self._run(sql, values, rows)

    async def execute(self, sql: Statement, values: Values = None) -> int:
        """How many rows a statement touched that commits by itself; values and errors as with ``fetch``."""
        return await self._run(sql, values, row_count)

    async def transaction(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """What ``work`` returns, after its transaction was committed; rolled back if it raises.

        ``work`` runs to its end and is committed even if the caller is cancelled. It is run again from the start, at
        most three times, when it was rolled back by a deadlock, a serialisation failure or an upgrade, so it should have
        no other effects than its statements. Waiting in it for a second connection of the pool can only end in UnavailableError
        when all wait in the same way: use the transaction that was given.

        Errors as with ``fetch``, and those of ``work``. An UnavailableError whose ``uncertain`` is true says that the
        connection was lost at COMMIT: nobody knows whether the work was done.
        """
        return await self._with(lambda connection: rerun(self._reactor, lambda: Transaction(connection).run(work)))

    def figures(self) -> PoolFigures:
        """Size, free, busy and waiting, now."""
        return PoolFigures(size=self._size, free=len(self._free), busy=len(self._busy), waiting=len(self._queue))

    @property
    def trouble(self) -> str:
        """Why no connection can be opened, in a sentence; "" if the last attempt succeeded."""
        return self._connector.trouble

    def add_observer(self, observer: Observer) -> None:
        """Has ``observer(channel, payload)`` called for each notification on a channel that is listened to.

        After the connection was lost and is back, it is called once per channel with an empty payload, since something
        may have been missed. Errors of an observer are logged.
        """
        self._listener.add_observer(observer)

    async def listen(self, channel: str) -> None:
        """Hears a channel from now on, also after reconnecting; waits while the server is away.

        It has a connection of its own, which is not counted in ``size``. Raises UnavailableError when the pool is
        closed or the connection lost meanwhile.
        """
        await self._listener.listen(channel)

    async def notify(self, channel: str, payload: str) -> None:
        """Notifies a channel on the connection that listens, in a transaction of its own.

        Raises UnavailableError at once when there is none, or when it is lost on the way.
        """
        await self._listener.notify(channel, payload)

    def _run(self, sql: Statement, values: Values, read: Callable[[Cursor], T]) -> Deferred[T]:
        async def run(connection: Connection) -> T:
            # Read before the connection goes back, which closes it when the pool is being closed.
            return read(await rerun(self._reactor, lambda: connection.run(sql, values, commits=True)))

        return self._with(run)

    def _with(self, use: Callable[[Connection], Coroutine[Any, Any, T]]) -> Deferred[T]:
        place = self._check_out()
        running = place.addCallback(lambda connection: ensureDeferred(use(connection)).addBoth(self._back, connection))
        answer = shield(running, lambda: self._queue.leave(place, CancelledError()))
        # Once the answer is delivered: the next caller's statement may be done at once and would overtake it.
        running.addBoth(lambda _: self._hand_out())
        return answer

    def _check_out(self) -> Deferred[Connection]:
        if self._closed is not None:
            return fail(NoConnectionError("The database connections are being closed."))
        return self._queue.join() if len(self._queue) or not self._free else succeed(self._take())

    def _take(self) -> Connection:
        # Lost connections are taken out of the free ones as soon as the loss is known.
        connection = self._free.pop()
        self._busy.add(connection)
        return connection

    def _back(self, result: T, connection: Connection) -> T:
        self._busy.discard(connection)
        if isinstance(result, Failure) and result.check(NoSpaceError):
            self.no_space = True
        if connection.idle and self._closed is None:
            self._free.append(connection)
            if connection.stretched and self._renewal is None:
                self._renewal = self._reactor.callLater(RENEWAL_SECONDS, self._renew)
        else:
            self._replace(connection)
        return result

    def _renew(self) -> None:
        """Replaces one that is free and keeps much memory."""
        self._renewal = None
        stretched = [connection for connection in self._free if connection.stretched]
        if len(stretched) > 1:
            self._renewal = self._reactor.callLater(RENEWAL_SECONDS, self._renew)
        if stretched:
            self._free.remove(stretched[0])
            self._replace(stretched[0])

    def _hand_out(self) -> None:
        # A loop, not a recursion: statements that fail before they are sent give their connection back at once.
        if self._handing_out:
            return
        self._handing_out = True
        try:
            while len(self._queue) and self._free:
                self._queue.serve(self._take())
        finally:
            self._handing_out = False

    def _replace(self, connection: Connection) -> None:
        connection.close()
        self._finish()
        in_background(ensureDeferred(self._refill()))

    def _lost(self, connection: Connection) -> None:
        # Those that lead to a demoted server would go on reading there what is no longer so.
        for lost in [*self._free] if connection.demoted else [connection]:
            if lost in self._free:
                self._free.remove(lost)
                self._replace(lost)

    async def _refill(self) -> None:
        # One attempt at a time: a server that comes back is not stormed, and there is one back-off to wait out.
        if self._refilling:
            return
        self._refilling = True
        try:
            while self._closed is None and len(self._free) + len(self._busy) < self._size:
                strict = not self._started.called
                opening = self._connector.open(self._make, self._setup, strict=strict, first=self._has_none)
                self._admit(await opening)
        except CrowddError as error:  # closed, or refused for good at the start
            self._give_up(error)
        finally:
            self._refilling = False

    def _has_none(self) -> bool:
        return not self._free and not self._busy

    def _give_up_one(self) -> bool:
        spare = bool(self._free) and len(self._free) + len(self._busy) > 1
        if spare:
            self._replace(self._free.pop(0))
        return spare

    def _make(self, reactor: IReactor) -> Connection:
        return Connection(reactor, self._lost, answer_timeout=self._answer_timeout)

    def _admit(self, connection: Connection) -> None:
        self._free.append(connection)
        self._hand_out()
        if not self._started.called:
            self._started.callback(self)

    def _give_up(self, error: CrowddError) -> None:
        if not self._started.called:
            self._started.errback(error)
        in_background(self.close())

    def _break_off(self) -> None:
        for connection in [*self._busy]:
            connection.close()

    def _finish(self) -> None:
        if self._closed is None or self._busy or self._closed.called:
            return
        for connection in self._free:
            connection.close()
        self._free.clear()
        self._closed.callback(None)


class Apart:
    """Runs transactions, each on a connection of its own. ``setup`` are statements that it runs first.

    ``budget`` are shared with pools: where PostgreSQL takes few connections, these come last.
    """

    def __init__(
        self, reactor: IReactor, dsn: str, setup: Sequence[str], budget: ConnectionBudget, seconds: float = 5.0
    ) -> None:
        self._reactor, self._hosts, self._setup, self._budget = reactor, Hosts.of(dsn), tuple(setup), budget
        self._seconds = seconds
        self._open: set[Connection] = set()
        self._connectors: set[Connector] = set()

    async def transaction(self, work: Callable[[Database], Awaitable[T]]) -> T:
        """What ``work`` returns. Raises UnavailableError when no connection comes within ``seconds``, or it is lost."""
        connection = await self._connect()
        self._open.add(connection)
        try:
            return await Transaction(connection).run(work)
        finally:
            self._open.discard(connection)
            connection.close()

    def close(self) -> None:
        """Breaks off what is under way."""
        for connector in [*self._connectors]:
            connector.stop()
        for connection in [*self._open]:
            connection.close()

    async def _connect(self) -> Connection:
        connector = Connector(self._reactor, self._hosts, seconds=self._seconds, budget=self._budget)
        self._connectors.add(connector)
        try:
            with deadline(self._reactor, self._seconds, connector.stop):
                return await connector.open(self._make, self._setup)
        finally:
            self._connectors.discard(connector)
            self._budget.leave(connector)

    def _make(self, reactor: IReactor) -> Connection:
        return Connection(reactor, self._open.discard)


@attrs.frozen
class SlowReads:
    """Reads on ``db``, whose connections requests of volunteers do not use, in turns by network.

    Statements for strangers have at most ``stranger_seconds``, others the time of the connection.
    """

    db: Reading
    turns: Turns
    stranger_seconds: int

    async def run(self, network: str, read: Callable[[Database], Awaitable[T]], *, stranger: bool) -> T:
        """What ``read`` gives or raises. Raises UnavailableError when its turn does not come in time."""

        async def within_time(tx: Database) -> T:
            if stranger:
                time = f"{self.stranger_seconds}s"
                await tx.execute("SELECT set_config('statement_timeout', %(time)s, true)", {"time": time})
            return await read(tx)

        return await self.turns.run(network, lambda: self.db.transaction(within_time))
