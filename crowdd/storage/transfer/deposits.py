"""Deposits of snapshots in repositories."""

from __future__ import annotations

from crowdd.storage.database import Database, fetch_row_or_none, one_or_none
from crowdd.storage.transfer.deposit_rows import DepositRow, DepositWork

_STATE = (
    "CASE WHEN d.published IS NOT NULL THEN 'published' WHEN q.state IN ('waiting', 'running', 'cancelled', 'dead') THEN"
    " CASE q.state WHEN 'dead' THEN 'failed' ELSE q.state END WHEN d.uploaded IS NOT NULL THEN 'uploaded' ELSE 'failed' END"
)


async def of_snapshot(db: Database, snapshot_id: int) -> DepositRow | None:
    """The deposit of a snapshot."""
    return await fetch_row_or_none(
        db,
        DepositRow,
        "SELECT d.id, d.snapshot_id, d.created, u.name AS user_name, q.id AS queue_item,"
        f" {_STATE} AS state, coalesce(q.done, 0) AS done, q.total, coalesce(q.error, '') AS error, d.url, d.publish, d.page,"
        " d.published, d.doi FROM deposit d LEFT JOIN queue_item q ON q.id = d.item_id LEFT JOIN account u ON u.id = d.user_id"
        " WHERE d.snapshot_id = %(snapshot)s",
        {"snapshot": snapshot_id},
    )


async def work(db: Database, deposit_id: int) -> DepositWork | None:
    """What the work on a deposit needs."""
    return await fetch_row_or_none(
        db,
        DepositWork,
        "SELECT id, snapshot_id, url, publish, remote_id, published, token_encrypted FROM deposit WHERE id = %(id)s",
        {"id": deposit_id},
    )


async def add(db: Database, snapshot_id: int, user_id: int | None, url: str, *, publish: bool) -> int | None:
    """The id of a new deposit; None if the snapshot has one."""
    row = await one_or_none(
        db,
        "INSERT INTO deposit (snapshot_id, created, user_id, url, publish)"
        " VALUES (%(snapshot)s, clock(), %(user)s, %(url)s, %(publish)s) ON CONFLICT DO NOTHING RETURNING id",
        {"snapshot": snapshot_id, "user": user_id, "url": url, "publish": publish},
    )
    return int(row["id"]) if row else None


async def set_token(db: Database, deposit_id: int, encrypted: bytes | None) -> None:
    """Keeps a token, or forgets it."""
    await db.execute(
        "UPDATE deposit SET token_encrypted = %(token)s WHERE id = %(id)s", {"id": deposit_id, "token": encrypted}
    )


async def begin(db: Database, deposit_id: int, item_id: int | None, *, publish: bool) -> None:
    """Says which item of the queue works on a deposit, and whether it is to be published."""
    await db.execute(
        "UPDATE deposit SET item_id = %(item)s, publish = %(publish)s WHERE id = %(id)s",
        {"id": deposit_id, "item": item_id, "publish": publish},
    )


async def created(db: Database, deposit_id: int, remote_id: str, page: str) -> None:
    """Says what it is in the repository."""
    await db.execute(
        "UPDATE deposit SET remote_id = %(remote)s, page = %(page)s WHERE id = %(id)s",
        {"id": deposit_id, "remote": remote_id, "page": page},
    )


async def uploaded(db: Database, deposit_id: int) -> None:
    """All files are in the repository."""
    await db.execute("UPDATE deposit SET uploaded = clock() WHERE id = %(id)s", {"id": deposit_id})


async def published(db: Database, deposit_id: int, page: str, doi: str) -> None:
    """It is published. Its token is forgotten."""
    await db.execute(
        "UPDATE deposit SET published = clock(), page = %(page)s, doi = %(doi)s, token_encrypted = NULL WHERE id = %(id)s",
        {"id": deposit_id, "page": page, "doi": doi},
    )


async def delete(db: Database, deposit_id: int) -> None:
    """Forgets a deposit. What the repository has stays there."""
    await db.execute("DELETE FROM deposit WHERE id = %(id)s", {"id": deposit_id})
