"""Open connections to the primary among several servers, however long it is away, within the sessions it allows.

``host=a,b,c target_session_attrs=read-write`` names several servers. In asynchronous mode libpq goes from one to the
next only when the first refuses. A machine that vanished makes it wait for minutes, so each host is an attempt of its
own, with its own timeout.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol

import attrs
import psycopg2
from psycopg2.extensions import make_dsn, parse_dsn
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import deferLater
from twisted.logger import Logger

from crowdd.database.connection import Connection
from crowdd.database.errors import first_line
from crowdd.database.schema import SEARCH_PATH
from crowdd.kernel.concurrency.timing import back_off, deadline
from crowdd.kernel.errors import ConfigError, InvalidValueError, UnavailableError
from crowdd.kernel.reactor import IReactor

log = Logger()


class ConnectionUser(Protocol):
    """Who opens connections; ``crowdd.database.connector.Connector`` does."""

    @property
    def lacks_any(self) -> bool:
        """Whether it wants a connection and has none."""


class ConnectionBudget:
    """Shared by those who open connections from one process to one database.

    Pools without a connection come first, in the order in which they joined: the others open no further ones meanwhile.
    When PostgreSQL is full, the pool registered last releases a connection first.
    """

    def __init__(self) -> None:
        self._wanting: list[ConnectionUser] = []
        self._givers: list[Callable[[], bool]] = []
        self._primary = ""

    def note_primary(self, host: str) -> None:
        """A connection to one of several hosts was opened: it is the primary. Say so when it is another one."""
        if host != self._primary:
            log.info("the primary is now {host}", host=host)
        self._primary = host

    def join(self, one: ConnectionUser) -> None:
        """It wants connections, too, and comes after those who joined before."""
        self._wanting.append(one)

    def leave(self, one: ConnectionUser) -> None:
        """It wants none any more."""
        self._wanting.remove(one)

    def lend(self, give: Callable[[], bool]) -> None:
        """``give`` closes a connection that its owner can do without, and says whether there was one."""
        self._givers.append(give)

    def reserved(self, one: ConnectionUser) -> bool:
        """Whether the next place is for somebody else."""
        before = self._wanting.index(one) if one.lacks_any else len(self._wanting)
        return any(other.lacks_any for other in self._wanting[:before])

    def make_room(self) -> None:
        """Has one connection given up, if anybody can spare one."""
        any(give() for give in reversed(self._givers))


# A machine that is gone without a word: a session with it ends after 11 seconds, and what runs on it fails. Without these libpq
# waits for a quarter of an hour or two hours. No effect on a server that only takes long.
_NOTICING = {
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "11000",
}
_HOST_SECONDS = 2.0  # for each of several
_LISTS = ("host", "hostaddr", "port")
_PRIMARY = ("read-write", "primary")


@attrs.define
class Hosts:
    """``dsns``: one for each server. ``writable``: only one that takes changes is wanted."""

    dsns: tuple[str, ...]
    writable: bool
    _first: int = 0

    @classmethod
    def of(cls, dsn: str) -> Hosts:
        """Those of a DSN. One that libpq cannot read is left to it: connecting says what is wrong."""
        noticing = noticing_silence(dsn)
        try:
            words = parse_dsn(noticing)
        except psycopg2.Error:
            return cls((dsn,), writable=False)
        each, writable = _each(words), words.get("target_session_attrs") in _PRIMARY
        dsns = (noticing,) if len(each) == 1 else tuple(str(make_dsn(**{**words, **host})) for host in each)
        return cls(dsns, writable)

    def in_turn(self) -> tuple[str, ...]:
        """All of them, first the one that was found last."""
        return self.dsns[self._first :] + self.dsns[: self._first]

    def found(self, dsn: str) -> None:
        """It took a connection."""
        self._first = self.dsns.index(dsn)

    def name(self, dsn: str) -> str:
        """The host of one of several, for the beginning of a sentence; empty for the only one."""
        words = {} if len(self.dsns) == 1 else parse_dsn(dsn)
        host = words.get("host") or words.get("hostaddr") or ""
        return f"{host}: " if host else ""

    def seconds(self, whole: float) -> float:
        """How long to try one of them, where an attempt at a single one may take ``whole``."""
        return whole if len(self.dsns) == 1 else min(whole, _HOST_SECONDS)


def noticing_silence(dsn: str) -> str:
    """The DSN, with how soon a silent network counts as cut, unless it says so itself or names a socket of this machine.

    A DSN that libpq does not understand is returned as it is.
    """
    try:
        words = parse_dsn(dsn)
    except psycopg2.Error:
        return dsn
    hosts = [*filter(None, words.get("host", "").split(","))]
    if not words or (hosts and all(host.startswith(("/", "@")) for host in hosts) and "hostaddr" not in words):
        return dsn
    return str(make_dsn(dsn, **{name: value for name, value in _NOTICING.items() if name not in words}))


def read_dsn(dsn: str) -> dict[str, str]:
    """The parameters of a connection string. Raises ConfigError in the words of libpq."""
    try:
        return dict(parse_dsn(dsn))
    except psycopg2.Error as error:
        raise ConfigError(str(error).splitlines()[0].removeprefix("invalid dsn: ")) from None


def require_primary(dsn: str) -> None:
    """Raises ConfigError for several servers of which any would do: a standby takes no answers."""
    hosts = Hosts.of(dsn)
    if len(hosts.dsns) > 1 and not hosts.writable:
        raise ConfigError(
            "[db] dsn names several hosts. Add target_session_attrs=read-write to it, so that the primary is found."
        )


def _each(words: dict[str, str]) -> list[dict[str, str]]:
    """Host, address and port of each server; as they are where their numbers differ, which libpq refuses."""
    lists = {name: words[name].split(",") for name in _LISTS if name in words}
    number = max((len(each) for each in lists.values()), default=1)
    if any(len(each) not in (number, *([1] if name == "port" else [])) for name, each in lists.items()):
        return [{}]
    return [{name: each[n % len(each)] for name, each in lists.items()} for n in range(number)]


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
            refusal = next((error for _, error in errors if is_permanent(error)), None) if strict else None
            if refusal is not None:
                raise ConfigError(f"The database refuses the connection: {first_line(refusal)}") from refusal
            failures += 1
            if not self._stopped:
                words = "; ".join(f"{host}{first_line(error)}" for host, error in errors)
                log.warn("could not connect to the database: {error}", error=words)
                full = any(FULL.search(str(error)) for _, error in errors)
                self.trouble = FULL_WORDS if full else AWAY_WORDS
                if self.lacks_any and full:
                    self._budget.make_room()
                await self._rest(back_off(failures, FIRST_PAUSE, PAUSE_GROWTH, MAX_PAUSE))
        raise UnavailableError("The database connections are being closed.")

    async def _try_each(
        self, make: Callable[[IReactor], Connection], setup: Sequence[str]
    ) -> tuple[Connection | None, list[tuple[str, Exception]]]:
        """A connection with one of the hosts, else what was wrong with each, by its name."""
        errors: list[tuple[str, Exception]] = []
        for dsn in self._hosts.in_turn():
            if self._stopped:
                break
            try:
                made = await self._attempt(make(self._reactor), dsn, setup)
            except Exception as error:
                errors.append((self._hosts.name(dsn), error))
            else:
                self._hosts.found(dsn)
                if self._hosts.writable and len(self._hosts.dsns) > 1:
                    self._budget.note_primary(self._hosts.name(dsn).removesuffix(": "))
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


KEEPALIVES = (
    # PostgreSQL notices within 25 seconds that a machine is gone, and frees the locks of its sessions: otherwise nobody
    # else would send webhooks or run its jobs for hours. Without effect on sockets of the same machine.
    "SET tcp_keepalives_idle = 10",
    "SET tcp_keepalives_interval = 5",
    "SET tcp_keepalives_count = 3",
)

ONE_PROCESSOR = "SET max_parallel_workers_per_gather = 0"
"""For connections whose statements may take long."""


def list_session_settings(seconds: int) -> list[str]:
    """What each connection of a pool begins with; ``seconds`` are the time-out of a statement."""
    return [
        SEARCH_PATH,
        *KEEPALIVES,
        "SET timezone = 'UTC'",
        f"SET statement_timeout = '{seconds}s'",
        "SET lock_timeout = '5s'",
        # A transaction whose work waits for ever must not hold its rows for ever; nor a statement whose server is gone.
        f"SET idle_in_transaction_session_timeout = '{seconds}s'",
        "SET client_connection_check_interval = '1s'",
        # Plans of functions are made once per connection, perhaps while the tables are empty or do not know a project
        # yet: as for any project, and as if tables were large. What has no index then looks dear enough to be compiled.
        "SET plan_cache_mode = force_generic_plan",
        "SET enable_seqscan = off",
        "SET jit = off",
    ]
