"""The audit log as a chain of hashes (`core/64_audit_chain.sql`)."""

from __future__ import annotations

from crowdd.core.rows import AuditHead, AuditMisfit
from crowdd.database.access import Database, Transactions, fetch_row, fetch_row_or_none, one

BITE = 1000


async def extend_chain(db: Database, key: bytes) -> int:
    """Chains the next rows, at most BITE. How many there were."""
    row = await one(db, "SELECT chain_audit(%(key)s, %(maximum)s) AS n", {"key": key, "maximum": BITE})
    return int(row["n"])


async def delete_expired_rows(db: Database, days: int) -> int:
    """Removes the next rows that are older than so many days, at most BITE, from the beginning of the chain."""
    sql = "SELECT drop_audit(clock() - make_interval(days => %(days)s), %(maximum)s) AS n"
    return int((await one(db, sql, {"days": days, "maximum": BITE}))["n"])


async def restart_chain(db: Database) -> None:
    """Forgets the chain: all rows are chained again, with another key."""
    await db.execute("SELECT restart_audit_chain()")


async def read_head(db: Database) -> AuditHead:
    """The last row of the chain."""
    return await fetch_row(db, AuditHead, "SELECT position, encode(hash, 'hex') AS hash FROM audit_chain")


async def has_hash(db: Database, position: int, hash_: str) -> bool:
    """Whether the row at a position has this hash, or was removed with all others of its age."""
    row = await one(
        db,
        "SELECT CASE WHEN %(position)s < c.begin_position OR %(position)s = 0 THEN true"
        " WHEN %(position)s = c.begin_position THEN encode(c.begin_hash, 'hex') = %(hash)s"
        " ELSE EXISTS (SELECT FROM audit a WHERE a.position = %(position)s AND encode(a.hash, 'hex') = %(hash)s) END AS has"
        " FROM audit_chain c",
        {"position": position, "hash": hash_},
    )
    return bool(row["has"])


async def find_misfit(db: Transactions, key: bytes) -> AuditMisfit | None:
    """The first place at which the chain does not hold; None where it holds. Reads all rows, and takes its time."""

    async def work(tx: Database) -> AuditMisfit | None:
        await tx.execute("SET LOCAL statement_timeout = 0")
        sql = "SELECT id, position, reason FROM check_audit(%(key)s)"
        return await fetch_row_or_none(tx, AuditMisfit, sql, {"key": key})

    return await db.transaction(work)
