"""A pool of database connections that survives cancelled callers, a restarted server and overload.

It promises:

* No cancellation reaches a statement or transaction that has begun: it runs to its end (a transaction to its commit),
  only its caller no longer waits. A caller that leaves while waiting for a connection is taken out of the queue.
* A connection goes to the next caller only when it is idle and outside a transaction; otherwise it is closed and
  replaced. What a caller sets for the session (SET, temporary tables, session locks) stays: use SET LOCAL.
* Lost connections are replaced without being asked, also when the server is down at the start.
* The queue is first come, first served, bounded in length and in time; the connection used last is used next.

Results are held in memory as a list of dicts and parsed while the reactor stands still (2 to 6 ms per thousand rows):
exports and other large results are not this pool's work.
"""

import random
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Generic, TypeVar

from attrs import frozen
from psycopg2 import errors, extensions
from twisted.internet.defer import CancelledError, Deferred, DeferredLock, ensureDeferred, fail, succeed
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from crowdd.errors import CrowddError, NoConnectionError, UnavailableError
from crowdd.storage.connection import Connection, Connector, row_count, rows, shield
from crowdd.storage.database import Row, Statement, Values
from crowdd.storage.places import Places

T = TypeVar("T")
Observer = Callable[[str, str], None]

RERUNNABLE = (errors.SerializationFailure, errors.DeadlockDetected)
RERUN_PAUSES = (0.01, 0.03, 0.1)  # seconds, on average

log = Logger()


@frozen
class PoolFigures:
    """The pool at this moment. ``size`` is the number wanted; ``size - free - busy`` connections are missing."""

    size: int
    free: int
    busy: int
    waiting: int


class Transaction:
    """An open transaction, given to the work of ``Pool.transaction``; one statement at a time, none after the end.

    After a statement failed PostgreSQL refuses all others until a rollback, at least to a SAVEPOINT made before.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._over = False
        self._failure: Exception | None = None

    async def fetch(self, sql: Statement, values: Values = None) -> list[Row]:
        """The rows of a statement; errors as with ``Pool.fetch``, but deadlocks come as psycopg2 raises them."""
        return rows(await self._run(sql, values))

    async def execute(self, sql: Statement, values: Values = None) -> int:
        """How many rows a statement touched; errors as with ``fetch``."""
        return row_count(await self._run(sql, values))

    async def _run(self, sql: Statement, values: Values) -> Any:
        if self._over:
            raise RuntimeError("The transaction is over.")
        try:
            return await self._connection.run(sql, values)
        except Exception as error:
            self._failure = error
            raise

    async def run(self, work: "Callable[[Transaction], Awaitable[T]]") -> T:
        """BEGIN, the work, COMMIT; ROLLBACK if either raised, and the error is raised again."""
        await self._connection.run("BEGIN")
        try:
            result = await work(self)
            await self._commit()
        except Exception:
            await self._roll_back()
            raise
        finally:
            self._over = True
        return result

    async def _commit(self) -> None:
        # COMMIT of a failed transaction is a silent ROLLBACK: work that swallowed the error must not pass for done.
        if self._connection.status == extensions.TRANSACTION_STATUS_INERROR and self._failure is not None:
            raise self._failure
        if self._connection.alive and self._connection.status != extensions.TRANSACTION_STATUS_INTRANS:
            raise RuntimeError("The work ended its transaction itself, or left a statement running.")
        await self._connection.run("COMMIT", commits=True)

    async def _roll_back(self) -> None:
        # If this fails, the connection is not idle afterwards and the pool replaces it: the server then rolls back.
        try:
            if not self._connection.idle:
                await self._connection.run("ROLLBACK")
        except Exception as error:
            log.debug("ROLLBACK failed: {error}", error=error)


class Queue(Generic[T]):
    """Callers who wait for a thing, first come, first served; ``most`` of them, each for at most ``seconds``."""

    def __init__(self, clock: Any, *, most: int, seconds: float) -> None:
        self._clock, self._most, self._seconds = clock, most, seconds
        self._timers: OrderedDict[Deferred[T], Any] = OrderedDict()

    def __len__(self) -> int:
        return len(self._timers)

    def join(self) -> Deferred[T]:
        """A place in the queue, fires with the thing; NoConnectionError at once when full, else when time is up."""
        if len(self) >= self._most:
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
        place.errback(NoConnectionError(f"No database connection became free within {self._seconds:g} seconds."))


class Listener:
    """Hears and sends NOTIFY on a connection of its own, which is opened when first needed and again after a loss."""

    def __init__(self, connector: Connector) -> None:
        self._connector = connector
        self._connection: Connection | None = None
        self._channels: dict[str, None] = {}
        self._observers: list[Observer] = []
        self._one_at_a_time = DeferredLock()

    def add_observer(self, observer: Observer) -> None:
        """See ``Pool.add_observer``."""
        self._observers.append(observer)

    async def listen(self, channel: str) -> None:
        """See ``Pool.listen``."""
        await shield(self._one_at_a_time.run(lambda: ensureDeferred(self._attend(channel))))

    async def notify(self, channel: str, payload: str) -> None:
        """See ``Pool.notify``."""
        self._require_connection()
        await shield(self._one_at_a_time.run(lambda: ensureDeferred(self._send(channel, payload))))

    def close(self) -> None:
        """Stops hearing; a pending ``listen`` fails with UnavailableError."""
        self._connector.stop()
        if self._connection is not None:
            self._connection.close()

    async def _attend(self, channel: str) -> None:
        connection = await self._connected()
        await connection.run(listen_statement(channel))
        self._channels[channel] = None

    async def _send(self, channel: str, payload: str) -> None:
        await self._require_connection().run("SELECT pg_notify(%s, %s)", (channel, payload))

    def _require_connection(self) -> Connection:
        if self._connection is None or not self._connection.alive:
            raise UnavailableError("The connection for notices is lost.")
        return self._connection

    async def _connected(self) -> Connection:
        if self._connection is None or not self._connection.alive:
            # A notice is no data: it need not wait for the disk.
            listens = [listen_statement(channel) for channel in self._channels]
            setup = ["SET synchronous_commit = off", *listens]
            self._connection = await self._connector.open(self._make, setup)
        return self._connection

    def _make(self, reactor: Any) -> Connection:
        return Connection(reactor, self._lost, self._tell)

    def _lost(self, connection: Connection) -> None:
        if connection is self._connection:
            in_background(self._one_at_a_time.run(lambda: ensureDeferred(self._resume())))

    async def _resume(self) -> None:
        await self._connected()
        # What was notified in between is lost, so everybody looks once.
        for channel in self._channels:
            self._tell(channel, "")

    def _tell(self, channel: str, payload: str) -> None:
        for observer in self._observers:
            try:
                observer(channel, payload)
            except Exception:
                log.failure("An observer of {channel} failed", channel=channel)


class Pool:
    """Connections to one database, shared by all requests of a process.

    ``dsn`` is libpq's and should name a socket directory or an address, since names are resolved while the reactor
    stands still. ``setup`` are statements that each new connection runs first (PREPARE, SET). At most ``most_waiting``
    callers wait for a connection, each for ``wait_seconds``; an attempt to connect is given up after
    ``connect_seconds``. Pools of one process that share ``places`` leave each other at least one connection.
    """

    def __init__(
        self,
        reactor: Any,
        dsn: str,
        *,
        size: int = 8,
        most_waiting: int = 1000,
        wait_seconds: float = 5.0,
        connect_seconds: float = 10.0,
        setup: Sequence[str] = (),
        places: Places | None = None,
    ) -> None:
        self._reactor = reactor
        self._size = size
        self._setup = tuple(setup)
        places = Places() if places is None else places
        places.lend(self._give_up_one)
        self._connector = Connector(reactor, dsn, seconds=connect_seconds, places=places)
        self._listener = Listener(Connector(reactor, dsn, seconds=connect_seconds, places=places))
        self._queue: Queue[Connection] = Queue(reactor, most=most_waiting, seconds=wait_seconds)
        self._free: list[Connection] = []
        self._busy: set[Connection] = set()
        self._started: Deferred[Pool] = Deferred()
        self._closed: Deferred[None] | None = None
        self._refilling = self._handing_out = False

    def start(self) -> "Deferred[Pool]":
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
        errors come as psycopg2 raises them. A statement that fails by deadlock or serialisation is run again, at most
        three times.
        """
        return rows(await self._run(sql, values))

    async def execute(self, sql: Statement, values: Values = None) -> int:
        """How many rows a statement touched that commits by itself; values and errors as with ``fetch``."""
        return row_count(await self._run(sql, values))

    async def transaction(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """What ``work`` returns, after its transaction was committed; rolled back if it raises.

        ``work`` runs to its end and is committed even if the caller is cancelled. It is run again from the start, at
        most three times, when it was rolled back by a deadlock or a serialisation failure, so it should have no other
        effects than its statements. Waiting in it for a second connection of the pool can only end in UnavailableError
        when all wait likewise: use the transaction that was given.

        Errors as with ``fetch``, and those of ``work``. An UnavailableError whose ``uncertain`` is true says that the
        connection was lost at COMMIT: nobody knows whether the work was done.
        """
        return await self._with(lambda connection: rerun(self._reactor, lambda: Transaction(connection).run(work)))

    def figures(self) -> PoolFigures:
        """Size, free, busy and waiting, now."""
        return PoolFigures(size=self._size, free=len(self._free), busy=len(self._busy), waiting=len(self._queue))

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

    def _run(self, sql: Statement, values: Values) -> Deferred[Any]:
        return self._with(lambda connection: rerun(self._reactor, lambda: connection.run(sql, values, commits=True)))

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
        if connection.idle and self._closed is None:
            self._free.append(connection)
        else:
            self._replace(connection)
        return result

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
        if connection in self._free:
            self._free.remove(connection)
            self._replace(connection)

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

    def _make(self, reactor: Any) -> Connection:
        return Connection(reactor, self._lost)

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


async def rerun(clock: Any, attempt: Callable[[], Awaitable[T]]) -> T:
    """The result of ``attempt``, repeated while deadlocks or serialisation failures undo it, at most three times."""
    # Each time a pause: run again at once, it would take its locks back before the other has got them.
    for pause in RERUN_PAUSES:
        try:
            return await attempt()
        except RERUNNABLE:
            await deferLater(clock, pause * random.uniform(0.5, 1.5))  # noqa: S311
    try:
        return await attempt()
    except RERUNNABLE as error:
        raise UnavailableError("The rows are contended.", retry_after=1) from error


def listen_statement(channel: str) -> str:
    """LISTEN for a channel of any name."""
    return 'LISTEN "{}"'.format(channel.replace('"', '""'))


def in_background(work: Deferred[Any]) -> None:
    """Lets work go on by itself; its failure is logged, unless it comes of closing the pool."""

    def failed(failure: Failure) -> None:
        if not failure.check(UnavailableError):
            log.failure("Database work in the background failed", failure)

    work.addErrback(failed)
