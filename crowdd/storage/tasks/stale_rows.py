"""Rows of the ledger that nobody has used for long: rights to answer late, places in the order, links (definitions 38, 23)."""

from __future__ import annotations

from crowdd.storage.database import Database, one

CHUNK = 1000


async def sweep_expired_leases(db: Database, days: int) -> int:
    """Takes rights to answer late away that ended so many days ago; how many."""
    return await _all(db, "sweep_expired_leases", days)


async def sweep_positions(db: Database, days: int) -> int:
    """Forgets places in the order that nobody has used for so many days, and those of deleted projects; how many."""
    return await _all(db, "sweep_positions", days)


async def sweep_links(db: Database, days: int) -> int:
    """Removes links of volunteers with browsers without answers that were made so many days ago, and surplus ones; how many."""
    return await _all(db, "sweep_links", days)


async def _all(db: Database, function: str, days: int) -> int:
    gone = 0
    while True:
        row = await one(
            db,
            f"SELECT {function}(clock() - make_interval(days => %(days)s), %(maximum)s) AS n",
            {"days": days, "maximum": CHUNK},
        )
        gone += int(row["n"])
        if row["n"] < CHUNK:
            return gone
