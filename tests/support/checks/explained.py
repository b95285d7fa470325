"""A database that counts what statements touch."""

from __future__ import annotations

from typing import Any

from crowdd.storage.connections.pool import Pool
from crowdd.storage.database import Statement


class Explained:
    """Runs each statement under EXPLAIN: ``pages`` are those that the last one looked at, in memory or on disk.

    The fewest of three turns: a connection that runs a function for the first time reads the catalogues as well.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.pages = 0

    async def fetch(self, sql: Statement, values: Any = None) -> list[dict[str, Any]]:
        """No rows, whatever the statement."""
        text = sql if isinstance(sql, str) else sql.text
        turns = []
        for _ in range(3):
            rows = await self._pool.fetch(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {text}", values)
            plan = rows[0]["QUERY PLAN"][0]["Plan"]
            turns.append(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])
        self.pages = min(turns)
        return []
