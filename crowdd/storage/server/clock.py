"""What a clock that was set back means for rows that wait for a time (definitions/server/74_clock.sql)."""

from __future__ import annotations

from crowdd.storage.database import Database, one


async def follow(db: Database) -> float:
    """By how many seconds the clock was set back since the last call; 0 if it went on. Rows that wait are corrected."""
    return float((await one(db, "SELECT follow_clock(clock()) AS back"))["back"])
