"""Snapshots of projects: what was asked for, what was made, and which are due."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.storage.database import Database, as_json, fetch_row_or_none, fetch_rows, one
from crowdd.storage.transfer.snapshot_rows import (
    DueSnapshot,
    SnapshotFile,
    SnapshotProject,
    SnapshotRow,
    SnapshotSchedule,
)
from crowdd.values import Values

_STATE = "CASE WHEN s.hash IS NOT NULL THEN 'done' WHEN q.state IN ('waiting', 'running', 'cancelled') THEN q.state ELSE 'failed' END"
_WITHDRAWN = "(SELECT count(*) FROM withdrawn_volunteer w WHERE w.project_id = s.project_id AND w.at > s.as_of)"
_ROWS = (
    "SELECT s.id, s.project_id, s.created, s.user_id, u.name AS user_name, q.id AS queue_item,"
    f" {_STATE} AS state, coalesce(q.done, 0) AS done, q.total, coalesce(nullif(s.error, ''), q.error, '') AS error, s.public,"
    " s.hash, s.as_of, s.complete, s.hidden_columns, s.manifest,"
    " (SELECT coalesce(sum(f.bytes), 0)::bigint FROM snapshot_file f WHERE f.snapshot_id = s.id) AS bytes,"
    f" {_WITHDRAWN} AS withdrawn FROM snapshot s LEFT JOIN queue_item q ON q.id = s.item_id"
    " LEFT JOIN account u ON u.id = s.user_id"
)
_OF_PROJECT = f"{_ROWS} WHERE s.project_id = %(project)s"


async def lock(tx: Database, project_id: int) -> tuple[int, bool]:
    """How many snapshots a project has, and whether one of them waits or is being made. No other can be added meanwhile."""
    await tx.fetch("SELECT FROM project WHERE id = %(project)s FOR NO KEY UPDATE", {"project": project_id})
    row = await one(
        tx,
        "SELECT count(*) AS n, coalesce(bool_or(s.hash IS NULL AND q.state IN ('waiting', 'running')), false) AS busy"
        " FROM snapshot s LEFT JOIN queue_item q ON q.id = s.item_id WHERE s.project_id = %(project)s",
        {"project": project_id},
    )
    return int(row["n"]), bool(row["busy"])


async def hold_files(tx: Database, project_id: int) -> None:
    """Waits for others who store or remove files of a project's snapshots, and keeps them away until the commit."""
    await tx.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended('snapshots', %(project)s))", {"project": project_id}
    )


async def add(tx: Database, project_id: int, user_id: int | None) -> int:
    """The id of a new snapshot, which is to be made."""
    row = await one(
        tx,
        "INSERT INTO snapshot (project_id, created, user_id) VALUES (%(project)s, clock(), %(user)s) RETURNING id",
        {"project": project_id, "user": user_id},
    )
    return int(row["id"])


async def set_item(tx: Database, snapshot_id: int, item_id: int) -> None:
    """Says which background task makes a snapshot."""
    await tx.execute("UPDATE snapshot SET item_id = %(item)s WHERE id = %(id)s", {"id": snapshot_id, "item": item_id})


async def set_error(db: Database, snapshot_id: int, error: str) -> None:
    """Says why a snapshot could not be made."""
    await db.execute("UPDATE snapshot SET error = %(error)s WHERE id = %(id)s", {"id": snapshot_id, "error": error})


async def listed(db: Database, project_id: int) -> list[SnapshotRow]:
    """The snapshots of a project, the newest first."""
    return await fetch_rows(db, SnapshotRow, f"{_OF_PROJECT} ORDER BY s.id DESC", {"project": project_id})


async def next_made(db: Database, after: int) -> SnapshotRow | None:
    """The next snapshot of any project that is made, by id."""
    sql = f"{_ROWS} WHERE s.id > %(after)s AND s.hash IS NOT NULL ORDER BY s.id LIMIT 1"
    return await fetch_row_or_none(db, SnapshotRow, sql, {"after": after})


async def one_of(db: Database, project_id: int, snapshot_id: int) -> SnapshotRow | None:
    """One of them by its id."""
    values = {"project": project_id, "id": snapshot_id}
    return await fetch_row_or_none(db, SnapshotRow, f"{_OF_PROJECT} AND s.id = %(id)s", values)


async def by_hash(db: Database, project_id: int, hash_: str) -> SnapshotRow | None:
    """One of them by the hash of its content."""
    values = {"project": project_id, "hash": hash_}
    return await fetch_row_or_none(db, SnapshotRow, f"{_OF_PROJECT} AND s.hash = %(hash)s", values)


async def projects_with(db: Database, hash_: str) -> list[int]:
    """The projects that have a snapshot with this hash."""
    rows = await db.fetch("SELECT project_id FROM snapshot WHERE hash = %(hash)s ORDER BY id", {"hash": hash_})
    return [row["project_id"] for row in rows]


async def files(db: Database, snapshot_id: int) -> list[SnapshotFile]:
    """The files of a snapshot, by their names."""
    return await fetch_rows(
        db,
        SnapshotFile,
        "SELECT name, key, bytes, sha256, crc32, content FROM snapshot_file WHERE snapshot_id = %(id)s ORDER BY name",
        {"id": snapshot_id},
    )


async def finish(
    tx: Database, snapshot_id: int, hash_: str, project: SnapshotProject, manifest: Values, *, complete: bool
) -> bool:
    """Says that a snapshot is made; False when the project has one with this content, or it was deleted meanwhile."""
    return (
        await tx.execute(
            "UPDATE snapshot s SET hash = %(hash)s, as_of = %(now)s, error = '', complete = %(complete)s,"
            " hidden_columns = %(hidden)s, manifest = %(manifest)s WHERE id = %(id)s AND NOT EXISTS ("
            "SELECT FROM snapshot o WHERE o.project_id = s.project_id AND o.hash = %(hash)s)",
            {
                "id": snapshot_id,
                "hash": hash_,
                "now": project.now,
                "complete": complete,
                "hidden": None if project.hidden_columns is None else as_json(project.hidden_columns),
                "manifest": as_json(manifest),
            },
        )
        > 0
    )


async def add_files(tx: Database, snapshot_id: int, rows: Sequence[SnapshotFile]) -> None:
    """Adds the files of a snapshot."""
    await tx.execute(
        "INSERT INTO snapshot_file (snapshot_id, name, key, bytes, sha256, crc32, content)"
        " SELECT %(id)s, r.name, r.key, r.bytes, r.sha256, r.crc32, r.content"
        " FROM jsonb_to_recordset(%(rows)s) r(name text, key text, bytes bigint, sha256 text, crc32 bigint, content boolean)",
        {"id": snapshot_id, "rows": as_json(list(rows))},
    )


async def set_public(db: Database, snapshot_id: int, *, public: bool) -> None:
    """Makes a snapshot public, or one for owners."""
    await db.execute("UPDATE snapshot SET public = %(public)s WHERE id = %(id)s", {"id": snapshot_id, "public": public})


async def delete(db: Database, snapshot_id: int) -> None:
    """Deletes a snapshot. Its files stay in the store until they are removed there."""
    await db.execute("DELETE FROM snapshot WHERE id = %(id)s", {"id": snapshot_id})


async def keys_of(db: Database, project_id: int) -> set[str]:
    """The keys of all files of a project's snapshots."""
    rows = await db.fetch(
        "SELECT DISTINCT f.key FROM snapshot s JOIN snapshot_file f ON f.snapshot_id = s.id WHERE s.project_id = %(project)s",
        {"project": project_id},
    )
    return {row["key"] for row in rows}


async def withdrawn(db: Database, project_id: int, snapshot_id: int) -> list[str]:
    """Codes of volunteers who deleted their account after a snapshot was made."""
    rows = await db.fetch(
        "SELECT w.word FROM snapshot s JOIN withdrawn_volunteer w ON w.project_id = s.project_id AND w.at > s.as_of"
        " WHERE s.project_id = %(project)s AND s.id = %(id)s ORDER BY 1",
        {"project": project_id, "id": snapshot_id},
    )
    return [row["word"] for row in rows]


async def short_name(db: Database, project_id: int) -> str:
    """The short name of a project, which stands in the addresses of its snapshots."""
    row = await one(db, "SELECT short_name FROM project WHERE id = %(id)s", {"id": project_id})
    return str(row["short_name"])


# What it is made of -----------------------------------------------------------------------------------------------------


async def project_of(tx: Database, project_id: int) -> SnapshotProject | None:
    """The project as it is at this moment."""
    return await fetch_row_or_none(
        tx,
        SnapshotProject,
        "SELECT p.id, p.name, p.short_name, p.description, p.long_description, p.info, p.allow_anonymous_contributors,"
        " c.short_name AS category, p.has_gold, l.trial, p.hidden_columns, clock() AS now"
        " FROM project p JOIN project_ledger l ON l.project_id = p.id LEFT JOIN category c ON c.id = p.category_id WHERE p.id = %(id)s",
        {"id": project_id},
    )


# Schedules --------------------------------------------------------------------------------------------------------------


async def schedule(db: Database, project_id: int) -> SnapshotSchedule | None:
    """How often snapshots of a project are made; None: only when somebody asks."""
    sql = "SELECT every, due FROM snapshot_schedule WHERE project_id = %(project)s"
    return await fetch_row_or_none(db, SnapshotSchedule, sql, {"project": project_id})


async def set_schedule(db: Database, project_id: int, every: str, user_id: int | None) -> None:
    """Has snapshots made each week or month; the first one after such a time. An empty ``every`` ends that."""
    if not every:
        await db.execute("DELETE FROM snapshot_schedule WHERE project_id = %(project)s", {"project": project_id})
        return
    await db.execute(
        "INSERT INTO snapshot_schedule AS s (project_id, every, due, user_id)"
        " VALUES (%(project)s, %(every)s, clock() + ('1 ' || %(every)s)::interval, %(user)s)"
        " ON CONFLICT (project_id) DO UPDATE SET every = excluded.every, user_id = excluded.user_id,"
        " due = CASE WHEN s.every = excluded.every THEN s.due ELSE excluded.due END",
        {"project": project_id, "every": every, "user": user_id},
    )


async def take_due(db: Database) -> DueSnapshot | None:
    """The next project whose snapshot is due; the following one is due a week or a month later."""
    return await fetch_row_or_none(
        db,
        DueSnapshot,
        "UPDATE snapshot_schedule s SET due = clock() + ('1 ' || s.every)::interval"
        " FROM (SELECT c.project_id, a.id AS user_id, coalesce(a.name, '') AS user_name, coalesce(a.admin, false) AS admin"
        " FROM snapshot_schedule c LEFT JOIN account a ON a.id = c.user_id WHERE c.due <= clock()"
        " ORDER BY c.due LIMIT 1 FOR UPDATE OF c SKIP LOCKED) d"
        " WHERE s.project_id = d.project_id RETURNING d.project_id, d.user_id, d.user_name, d.admin",
    )
