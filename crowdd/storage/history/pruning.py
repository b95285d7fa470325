"""How long versions are kept (definitions/transfer/68_history.sql)."""

from __future__ import annotations

from crowdd.storage.database import Database, one

PRUNED = 5000  # versions of one transaction


async def follow(db: Database, days: int) -> None:
    """Begins to keep versions, or ends it (0 days), where that is not so yet."""
    await db.fetch("SELECT follow_history(%(days)s)", {"days": days})


async def prune(db: Database, days: int) -> int:
    """Deletes the next versions that ended more than so many days ago, all with 0; 0 when there are none."""
    sql = "SELECT prune_history(%(days)s, %(maximum)s) AS n"
    return int((await one(db, sql, {"days": days, "maximum": PRUNED}))["n"])
