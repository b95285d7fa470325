"""Opens connections, however long the server is away, to whichever of several servers is the primary."""

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
from crowdd.storage.connections.hosts import Hosts

FIRST_PAUSE, MAX_PAUSE, PAUSE_GROWTH = 0.1, 2.0, 1.7  # seconds, seconds, factor
# libpq has no SQLSTATE for a refused connection, only text. A server that speaks another language is taken for one that
# is away, and tried again.
REFUSED_FOR_GOOD = re.compile(
    r'authentication failed|no password supplied|no pg_hba\.conf entry|(database|role) "[^"]*+" does not exist'
    r"|permission denied for database|not permitted to log in|invalid (dsn|connection option|port number|sslmode value|target_session_attrs value)|could not match"
)
# Worth another attempt: the server runs and knows us, but has no place for a further session.
FULL = re.compile(r"too many (connections|clients)|connection slots")
FULL_WORDS = "PostgreSQL accepts no more connections."
AWAY_WORDS = "The database cannot be reached."

log = Logger()


class Connector:
    """Opens connections to one database, and gives up an attempt after ``seconds``; an attempt at one of several hosts earlier."""

    def __init__(self, reactor: IReactor, hosts: Hosts, *, seconds: float, budget: ConnectionBudget) -> None:
        self._reactor, self._hosts, self._budget = reactor, hosts, budget
        self._seconds = hosts.seconds(seconds)
        self._opening: set[Connection] = set()
        self._pauses: set[Deferred[None]] = set()
        self._wanting: Callable[[], bool] | None = None
        self._stopped = False
        self.trouble = ""  # a sentence, while attempts fail
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
            made, errors = await self._try_each(make, setup)
            if made is not None:
                self.trouble = ""
                return made
            refusal = next(filter(is_permanent, errors), None) if strict else None
            if refusal is not None:
                raise ConfigError(f"The database refuses the connection: {first_line(refusal)}") from refusal
            failures += 1
            if not self._stopped:
                log.warn("could not connect to the database: {error}", error="; ".join(map(first_line, errors)))
                full = any(FULL.search(str(error)) for error in errors)
                self.trouble = FULL_WORDS if full else AWAY_WORDS
                if self.lacks_any and full:
                    self._budget.make_room()
                await self._rest(back_off(failures, FIRST_PAUSE, PAUSE_GROWTH, MAX_PAUSE))
        raise UnavailableError("The database connections are being closed.")

    async def _try_each(
        self, make: Callable[[IReactor], Connection], setup: Sequence[str]
    ) -> tuple[Connection | None, list[Exception]]:
        """A connection with one of the hosts, else what was wrong with each."""
        errors: list[Exception] = []
        for dsn in self._hosts.in_turn():
            if self._stopped:
                break
            try:
                made = await self._attempt(make(self._reactor), dsn, setup)
            except Exception as error:
                errors.append(error)
            else:
                self._hosts.found(dsn)
                return made, errors
        return None, errors

    async def _attempt(self, connection: Connection, dsn: str, setup: Sequence[str]) -> Connection:
        # libpq ignores connect_timeout in asynchronous mode.
        self._opening.add(connection)
        connection.writable = self._hosts.writable
        try:
            with deadline(self._reactor, self._seconds, connection.close):
                await connection.connect(dsn)
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
