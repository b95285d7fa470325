"""Opens connections, however long the server is away."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import psycopg2
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import deferLater
from twisted.logger import Logger

from crowdd.concurrency.back_off import back_off
from crowdd.concurrency.deadline import deadline
from crowdd.errors import ConfigError, InvalidValueError, UnavailableError
from crowdd.reactor import IReactor
from crowdd.storage.connections.connection import Connection, first_line
from crowdd.storage.connections.connection_budget import ConnectionBudget

FIRST_PAUSE, MAX_PAUSE, PAUSE_GROWTH = 0.1, 2.0, 1.7  # seconds, seconds, factor
# libpq has no SQLSTATE for a refused connection, only text. A server that speaks another language is taken for one that
# is away, and tried again.
REFUSED_FOR_GOOD = re.compile(
    r'authentication failed|no password supplied|no pg_hba\.conf entry|(database|role) ".*" does not exist'
    r"|permission denied for database|not permitted to log in|invalid (dsn|connection option|port number|sslmode value)"
)
# Worth another attempt: the server runs and knows us, but has no place for a further session.
FULL = re.compile(r"too many (connections|clients)|connection slots")

log = Logger()


class Connector:
    """Opens connections to one database, and gives up an attempt after ``seconds``."""

    def __init__(self, reactor: IReactor, dsn: str, *, seconds: float, budget: ConnectionBudget) -> None:
        self._reactor, self._dsn, self._seconds, self._budget = reactor, dsn, seconds, budget
        self._opening: set[Connection] = set()
        self._pauses: set[Deferred[None]] = set()
        self._wanting: Callable[[], bool] | None = None
        self._stopped = False
        budget.join(self)

    @property
    def lacks_any(self) -> bool:
        """Whether the user of this connector wants a connection and has none."""
        return self._wanting is not None and not self._stopped and self._wanting()

    def stop(self) -> None:
        """Ends attempts and pauses; callers that wait for a connection get UnavailableError."""
        self._stopped = True
        for connection in [*self._opening]:
            connection.close()
        for pause in [*self._pauses]:
            pause.cancel()

    async def open(
        self,
        make: Callable[[IReactor], Connection],
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

    async def _persist(self, make: Callable[[IReactor], Connection], setup: Sequence[str], strict: bool) -> Connection:
        failures = 0
        while not self._stopped:
            if self._budget.reserved(self):
                await self._rest(FIRST_PAUSE)
                continue
            try:
                return await self._attempt(make(self._reactor), setup)
            except Exception as error:
                if strict and is_permanent(error):
                    raise ConfigError(f"The database refuses the connection: {first_line(error)}") from error
                if not self._stopped:
                    log.warn("could not connect to the database: {error}", error=first_line(error))
                    if self.lacks_any and FULL.search(str(error)):
                        self._budget.make_room()
                    await self._rest(back_off(failures + 1, FIRST_PAUSE, PAUSE_GROWTH, MAX_PAUSE))
            failures += 1
        raise UnavailableError("The database connections are being closed.")

    async def _attempt(self, connection: Connection, setup: Sequence[str]) -> Connection:
        # libpq ignores connect_timeout in asynchronous mode.
        self._opening.add(connection)
        try:
            with deadline(self._reactor, self._seconds, connection.close):
                await connection.connect(self._dsn)
                if setup:  # one message for all: a server starts with a dozen connections
                    await connection.run("; ".join(setup))
        except Exception:
            connection.close()
            raise
        finally:
            self._opening.discard(connection)
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
