"""Removal of old rows, in transactions short enough to be in nobody's way."""

from __future__ import annotations

from crowdd.storage.database import Database, Values

CHUNK = 5000


async def sweep(db: Database, table: str, condition: str, values: Values = None) -> int:
    """Deletes the rows of a table for which the condition holds, and says how many there were."""
    subquery = f"SELECT ctid FROM {table} WHERE {condition} LIMIT {CHUNK}"
    # The condition stands twice: not every PostgreSQL looks again at a row that was found by its place and then changed.
    sql = f"DELETE FROM {table} WHERE ctid = ANY (ARRAY({subquery})) AND {condition}"
    gone = 0
    while True:
        now = await db.execute(sql, values)
        gone += now
        if now < CHUNK:
            return gone
