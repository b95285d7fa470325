"""Counters: folded by a job, read together with what is not folded yet (definitions/50_statistics.sql)."""

from __future__ import annotations

from crowdd.storage.database import Database, one

CHUNK = 5000


async def fold(db: Database, most: int = CHUNK) -> int:
    """Folds appended counters and lets old days go, in short transactions; returns how many rows were folded."""
    folded = 0
    while (n := await _count(db, "SELECT fold_stats(clock(), %(most)s) AS n", most)) > 0:
        folded += n
        if n < most:
            break
    while await _count(db, "SELECT expire_days(clock(), %(most)s) AS n", most) == most:
        pass
    return folded


async def _count(db: Database, sql: str, most: int) -> int:
    return int((await one(db, sql, {"most": most}))["n"])
