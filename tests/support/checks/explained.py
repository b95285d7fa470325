"""A database that counts what statements touch."""

from __future__ import annotations

from typing import Any

from crowdd.database.access import Prepared, Statement
from crowdd.database.pool import Pool

_PREPARED = "SELECT name FROM pg_prepared_statements WHERE name = %(name)s"


class Explained:
    """Runs each statement under EXPLAIN: ``pages`` are those that the last one looked at, in memory or on disk.

    The fewest of three turns: a connection that runs a function for the first time reads the catalogues as well.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.pages = 0

    async def fetch(self, sql: Statement, values: Any = None) -> list[dict[str, Any]]:
        """No rows, whatever the statement. One that is prepared has the plan that a connection keeps."""
        if isinstance(sql, Prepared) and not await self._pool.fetch(_PREPARED, {"name": sql.name}):
            await self._pool.execute(sql.definition)
            try:
                return await self._explain(sql.call, values)
            finally:
                await self._pool.execute(f"DEALLOCATE {sql.name}")  # the pool prepares what it has not prepared itself
        return await self._explain(sql if isinstance(sql, str) else sql.call, values)

    async def _explain(self, text: str, values: Any) -> list[dict[str, Any]]:
        turns = []
        for _ in range(3):
            rows = await self._pool.fetch(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {text}", values)
            plan = rows[0]["QUERY PLAN"][0]["Plan"]
            turns.append(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])
        self.pages = min(turns)
        return []
