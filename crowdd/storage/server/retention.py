"""Personal data that has been kept long enough: removed bite by bite (definitions 72)."""

from __future__ import annotations

from crowdd.storage.database import Database, one

BITE = 5000
_BEFORE = "clock() - make_interval(days => %(days)s)"


async def forget_addresses(db: Database, days: int) -> int:
    """Removes pseudonyms of addresses from the next answers older than so many days; 0 when there are none."""
    sql = f"SELECT forget_addresses({_BEFORE}, %(maximum)s) AS n"
    return int((await one(db, sql, {"days": days, "maximum": BITE}))["n"])


async def forget_users_in_events(db: Database, days: int, after: tuple[int, int]) -> tuple[int, int] | None:
    """Takes accounts out of the next events behind one (project, id) that are older; the last one, None at the end."""
    row = await one(
        db,
        f"SELECT project, event FROM forget_users_in_events({_BEFORE}, %(project)s, %(event)s, %(maximum)s)",
        {"days": days, "project": after[0], "event": after[1], "maximum": BITE},
    )
    return None if row["event"] is None else (row["project"], row["event"])
