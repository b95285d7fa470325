"""Connections to the databases of tests that outlive a server: the next server on the same database takes them over.

PostgreSQL parses and plans the ledger's functions again in each session, which costs more than most tests.
"""

from __future__ import annotations

import select
from collections import defaultdict
from typing import Any

import psycopg2
import pytest
from psycopg2.extras import wait_select

from crowdd.database.connection import Connection

# DISCARD ALL without what is worth keeping: prepared statements and plans.
_RESET = (
    "SET SESSION AUTHORIZATION DEFAULT; RESET ALL; UNLISTEN *; SELECT pg_advisory_unlock_all();"
    " DISCARD TEMP; DISCARD SEQUENCES"
)
MAX_KEPT = 14  # of one database: what a server with the pool of conftest.py opens


class KeptConnections:
    """Idle sessions by DSN, each with the names of the statements that it has prepared."""

    def __init__(self) -> None:
        self._idle: dict[str, list[tuple[Any, set[str]]]] = defaultdict(list)
        self._dsns: set[str] = set()

    def allow(self, dsn: str) -> None:
        """Sessions of this database are kept from now on."""
        self._dsns.add(dsn)

    def knows(self, dsn: str) -> bool:
        """Whether sessions of this database are kept."""
        return dsn in self._dsns

    def forget(self, dsn: str) -> None:
        """Closes the sessions of a database; none is kept any more."""
        self._dsns.discard(dsn)
        for session, _ in self._idle.pop(dsn, ()):
            session.close()

    def pids(self, dsn: str) -> list[int]:
        """The backends of the idle sessions."""
        return [session.info.backend_pid for session, _ in self._idle[dsn]]

    def take(self, dsn: str) -> tuple[Any, set[str]] | None:
        """A session that is idle, if there is one."""
        while self._idle[dsn]:
            session, prepared = self._idle[dsn].pop()
            if _quiet(session):
                return session, prepared
            session.close()
        return None

    def keep(self, dsn: str, session: Any, prepared: set[str]) -> bool:
        """Whether an idle session is kept for the next server, as if it had just been opened."""
        if dsn not in self._dsns or len(self._idle[dsn]) >= MAX_KEPT:
            return False
        try:
            with session.cursor() as cursor:
                cursor.execute(_RESET)
                wait_select(session)
        except psycopg2.Error:
            return False
        session.notifies.clear()
        self._idle[dsn].append((session, prepared))
        return True

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Has the server's connections come from here and end here."""
        stock_connect, stock_close = Connection.connect, Connection.close

        def connect(connection: Any, dsn: str) -> Any:
            connection.dsn = dsn
            spare = self.take(dsn)
            if spare is not None:
                session, connection._prepared = spare
                connection._begin = lambda _dsn: session
            return stock_connect(connection, dsn)

        def close(connection: Any) -> None:
            connection.answer.stop()
            # Only one that the reactor watches: it is open, and nobody waits for it to be.
            usable = connection.idle and connection.active is None and connection._descriptor is not None
            if usable and self.keep(connection.dsn, connection._connection, connection._prepared):
                connection._unwatch()
                connection._connection = None
            else:
                stock_close(connection)

        patch.setattr(Connection, "connect", connect)
        patch.setattr(Connection, "close", close)


def _quiet(session: Any) -> bool:
    """Whether PostgreSQL has neither sent anything meanwhile nor hung up."""
    return not session.closed and not select.select([session], [], [], 0)[0]
