"""Requests that were counted by all processes together."""

from __future__ import annotations

from crowdd.storage.core import batch_delete
from crowdd.storage.database import Database, Prepared, one

_ADD = Prepared(
    "INSERT INTO rate_count AS c (key, until, used) VALUES (%(key)s, to_timestamp(%(until)s), %(more)s)"
    " ON CONFLICT (key, until) DO UPDATE SET used = c.used + EXCLUDED.used RETURNING used",
    key="bytea", until="float8", more="bigint",
)  # fmt: skip


async def add(db: Database, key: bytes, until: float, more: int) -> int:
    """How many there are in the window that ends at ``until`` (epoch seconds), with ``more`` that come from here."""
    return int((await one(db, _ADD, {"key": key, "until": until, "more": more}))["used"])


async def sweep(db: Database) -> int:
    """Removes windows that are over, and says how many counts that were."""
    return await batch_delete.sweep(db, "rate_count", "until < clock() - interval '1 hour'")
