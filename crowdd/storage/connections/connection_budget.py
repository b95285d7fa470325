"""The sessions that PostgreSQL allows one process, when these are fewer than it wants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class ConnectionUser(Protocol):
    """Who opens connections; ``crowdd.storage.connections.connector.Connector`` does."""

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
