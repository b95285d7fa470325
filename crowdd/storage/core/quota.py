"""What accounts store, by the counters of their projects."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.storage.core.rows import Exceeded, Usage
from crowdd.storage.database import Database, fetch_row, fetch_row_or_none, one, one_or_none


async def usage(db: Database, user_id: int) -> Usage:
    """What an account stores."""
    return await fetch_row(db, Usage, "SELECT projects, tasks, bytes FROM usage_of(%(id)s)", {"id": user_id})


async def exceeded(tx: Database, max_tasks: int, max_bytes: int) -> Exceeded | None:
    """The limit that the transaction exceeds; None without one."""
    sql = "SELECT what, used FROM quota_exceeded(%(tasks)s, %(bytes)s)"
    return await fetch_row_or_none(tx, Exceeded, f"{sql} LIMIT 1", {"tasks": max_tasks, "bytes": max_bytes})


async def projects_with_new(tx: Database, user_id: int) -> int:
    """How many projects an account has, its new one included; 0 for administrators."""
    return int((await one(tx, "SELECT projects_with_new(%(id)s) AS n", {"id": user_id}))["n"] or 0)


async def bytes_of_owner(db: Database, project_id: int) -> int:
    """Bytes of all projects of this project's owner; 0 for administrators."""
    sql = (
        "SELECT (usage_of(p.owner_id)).bytes AS bytes FROM project p JOIN account a ON a.id = p.owner_id AND NOT a.admin"
        " WHERE p.id = %(id)s"
    )
    row = await one_or_none(db, sql, {"id": project_id})
    return int(row["bytes"]) if row else 0


async def note_files(tx: Database, written: Sequence[tuple[str, int]], dropped: Sequence[str]) -> None:
    """Notes files of projects that were written (path, bytes), and that others are gone."""
    if dropped:
        await tx.execute("DELETE FROM upload_file WHERE path = ANY (%(paths)s)", {"paths": list(dropped)})
    if written:
        await tx.execute(
            "INSERT INTO upload_file AS f (path, project_id, bytes)"
            " SELECT u.path, p.id, u.bytes FROM unnest(%(paths)s::text[], %(sizes)s::bigint[]) u(path, bytes)"
            " JOIN project p ON p.id = substring(u.path FROM '^project-([0-9]{1,18})/')::bigint"
            " ON CONFLICT (path) DO UPDATE SET bytes = excluded.bytes WHERE f.bytes <> excluded.bytes",
            {"paths": [path for path, _ in written], "sizes": [size for _, size in written]},
        )
