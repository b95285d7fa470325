"""Connections for long reading beside the pool: each is opened for one transaction and closed after it.

What takes minutes must not hold a connection that requests wait for, and hardly ever is there such work at all.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from crowdd.concurrency.deadline import deadline
from crowdd.reactor import IReactor
from crowdd.storage.connections.connection import Connection
from crowdd.storage.connections.connection_budget import ConnectionBudget
from crowdd.storage.connections.connector import Connector
from crowdd.storage.connections.hosts import Hosts
from crowdd.storage.connections.transaction import Transaction
from crowdd.storage.database import Database

T = TypeVar("T")


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
