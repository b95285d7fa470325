"""Keys of requests that must take effect once."""

from __future__ import annotations

from crowdd.storage.core import batch_delete
from crowdd.storage.core.rows import FirstRequest
from crowdd.storage.database import Database, fetch_row_or_none

HOURS = 24


async def claim(db: Database, caller: str, path: str, key: str, body_hash: bytes) -> FirstRequest | None:
    """None when the key is new and now ours until the transaction ends; else what the first request left.

    A twin waits here for the end of the first one's transaction.
    """
    here = {"caller": caller, "path": path, "key": key, "hash": body_hash, "hours": HOURS}
    same = "caller = %(caller)s AND path = %(path)s AND key = %(key)s"
    await db.execute(
        f"DELETE FROM idempotency WHERE {same} AND created <= clock() - make_interval(hours => %(hours)s)", here
    )
    made = await db.execute(
        "INSERT INTO idempotency (caller, path, key, body_hash, created) VALUES (%(caller)s, %(path)s, %(key)s, %(hash)s, clock())"
        " ON CONFLICT DO NOTHING",
        here,
    )
    return (
        None
        if made
        else await fetch_row_or_none(db, FirstRequest, f"SELECT body_hash, ids FROM idempotency WHERE {same}", here)
    )


async def keep(db: Database, caller: str, path: str, key: str, ids: list[int]) -> None:
    """Stores the ids of what a request made."""
    await db.execute(
        "UPDATE idempotency SET ids = %(ids)s::bigint[] WHERE caller = %(caller)s AND path = %(path)s AND key = %(key)s",
        {"caller": caller, "path": path, "key": key, "ids": ids},
    )


async def sweep(db: Database) -> int:
    """Removes keys that have had their day."""
    return await batch_delete.sweep(
        db, "idempotency", "created <= clock() - make_interval(hours => %(hours)s)", {"hours": HOURS}
    )
