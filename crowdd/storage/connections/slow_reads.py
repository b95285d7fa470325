"""Reads that may walk over much of a table: few at a time, and on connections of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import attrs

from crowdd.concurrency.concurrency_limit import Turns
from crowdd.storage.database import Database, Reading

T = TypeVar("T")


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
