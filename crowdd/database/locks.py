"""The one process of many that does something: it holds an advisory lock on a connection of its own, which ends with it."""

from __future__ import annotations

from twisted.internet.interfaces import IReactorTime

from crowdd.database.connection import Connection, rows
from crowdd.database.connector import KEEPALIVES, ConnectionBudget, Connector, Hosts
from crowdd.kernel.reactor import IReactor

_CONNECT_SECONDS = 10.0
# Together less than the 25 seconds after which PostgreSQL lets go of a session whose network was cut, and gives its lock
# to another process: the old leader knows earlier that it may not be one any more.
PROOF_SECONDS = 5.0
ANSWER_TIMEOUT = 5.0


class Leadership:
    """A session's advisory lock by name. PostgreSQL gives it to the next one when the process dies, at once.

    When its machine is gone without a word, that takes 25 seconds.
    """

    def __init__(self, reactor: IReactor, dsn: str, name: str, budget: ConnectionBudget | None = None) -> None:
        self._clock: IReactorTime = reactor
        budget = ConnectionBudget() if budget is None else budget
        self._connector = Connector(reactor, Hosts.of(dsn), seconds=_CONNECT_SECONDS, budget=budget)
        self._name = name
        self._connection: Connection | None = None
        self._held = False
        self._proven = 0.0  # when the session that holds it was last seen alive

    @property
    def held(self) -> bool:
        """Whether it is ours, as far as is known."""
        return self._held

    async def seek(self) -> bool:
        """Whether it is ours now. Waits while the database is away; UnavailableError once closed or lost meanwhile.

        Ask at least every few seconds: the session that holds it has to answer every PROOF_SECONDS.
        """
        if self._held and self._connection is not None:
            await self._prove(self._connection)
            return self._held
        if self._connection is None:
            self._connection = await self._connector.open(self._make, KEEPALIVES)
        asked = self._clock.seconds()
        cursor = await self._connection.run(
            "SELECT pg_try_advisory_lock(hashtextextended(%(name)s, 0)) AS got", {"name": self._name}
        )
        self._held = self._connection is not None and bool(rows(cursor)[0]["got"])
        self._proven = asked
        return self._held

    async def _prove(self, connection: Connection) -> None:
        asked = self._clock.seconds()
        if asked - self._proven >= PROOF_SECONDS:
            await connection.run("SELECT")
            self._proven = asked

    def close(self) -> None:
        """Lets go. It cannot be sought again."""
        self._connector.stop()
        if self._connection is not None:
            self._connection.close()
        self._connection, self._held = None, False

    def _make(self, reactor: IReactor) -> Connection:
        return Connection(reactor, self._lost, answer_timeout=ANSWER_TIMEOUT)

    def _lost(self, connection: Connection) -> None:
        if connection is self._connection:
            self._connection, self._held = None, False
