"""Files that owners brought, and the rows of them that were refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crowdd.storage.database import Database, Row, as_json, one, one_or_none

KEPT_ERRORS = 10_000  # refused rows of an import that are kept
_FIGURES = (
    "id, project_id, created, name, format, file, bytes, rows, columns, sample, uses, again, queue_item, added, present,"
    " refused, ended"
)
_STATE = (
    "CASE WHEN i.queue_item IS NULL THEN 'pending' WHEN i.ended IS NOT NULL THEN 'done'"
    " ELSE coalesce((SELECT q.state FROM queue_item q WHERE q.id = i.queue_item), 'dead') END AS state"
)


async def add(db: Database, project_id: int, user_id: int | None, values: Mapping[str, Any], most: int) -> int | None:
    """The id of a new import that waits for a word; None when the project has ``most`` of these."""
    row = await one_or_none(
        db,
        "INSERT INTO task_import (project_id, user_id, created, name, format, file, bytes, rows, columns, sample)"
        " SELECT %(project)s, %(user)s, clock(), %(name)s, %(format)s, %(file)s, %(bytes)s, %(rows)s, %(columns)s, %(sample)s"
        " WHERE (SELECT count(*) FROM task_import WHERE project_id = %(project)s AND queue_item IS NULL) < %(most)s"
        " RETURNING id",
        {
            **values,
            "columns": as_json(values["columns"]),
            "sample": as_json(values["sample"]),
            "project": project_id,
            "user": user_id,
            "most": most,
        },
    )
    return int(row["id"]) if row else None


async def pending(db: Database, project_id: int, user_id: int | None) -> Row:
    """How many imports wait for a word: of the ``project``, and of the ``person`` in all projects."""
    return await one(
        db,
        "SELECT (SELECT count(*) FROM task_import WHERE project_id = %(project)s AND queue_item IS NULL) AS project,"
        " (SELECT count(*) FROM task_import WHERE user_id = %(user)s AND queue_item IS NULL) AS person",
        {"project": project_id, "user": user_id},
    )


async def get(db: Database, project_id: int, import_id: int) -> Row | None:
    """An import of the project with its ``state``: pending, that of its work, or done."""
    return await one_or_none(
        db,
        f"SELECT {_FIGURES}, {_STATE} FROM task_import i WHERE project_id = %(project)s AND id = %(id)s",
        {"project": project_id, "id": import_id},
    )


async def newest(db: Database, project_id: int, most: int) -> list[Row]:
    """The newest imports of a project, without their rows."""
    return await db.fetch(
        f"SELECT id, created, name, format, bytes, rows, queue_item, added, present, refused, ended, {_STATE}"
        " FROM task_import i WHERE project_id = %(project)s ORDER BY id DESC LIMIT %(most)s",
        {"project": project_id, "most": most},
    )


async def lock_pending(db: Database, project_id: int, import_id: int) -> Row | None:
    """An import that waits for a word, held until the transaction ends; None when it does not (any more)."""
    return await one_or_none(
        db,
        f"SELECT {_FIGURES} FROM task_import WHERE project_id = %(project)s AND id = %(id)s AND queue_item IS NULL FOR UPDATE",
        {"project": project_id, "id": import_id},
    )


async def begin(db: Database, import_id: int, uses: Mapping[str, str], again: bool, queue_item: int) -> None:
    """Says what columns become, and which work does it."""
    await db.execute(
        "UPDATE task_import SET uses = %(uses)s, again = %(again)s, queue_item = %(item)s WHERE id = %(id)s",
        {"id": import_id, "uses": as_json(dict(uses)), "again": again, "item": queue_item},
    )


async def forget(db: Database, project_id: int, import_id: int) -> str | None:
    """Removes an import that waits for a word; the name of its file."""
    row = await one_or_none(
        db,
        "DELETE FROM task_import WHERE project_id = %(project)s AND id = %(id)s AND queue_item IS NULL RETURNING file",
        {"project": project_id, "id": import_id},
    )
    return row["file"] if row else None


async def known(db: Database, project_id: int, infos: Sequence[Any]) -> list[Row]:
    """For each value, in order, its ``digest`` and whether the project has a task with this info (``present``)."""
    return await db.fetch(
        "SELECT md5(e::text) AS digest, EXISTS (SELECT FROM task t WHERE t.project_id = %(project)s"
        " AND md5(t.info::text)::uuid = md5(e::text)::uuid) AS present"
        " FROM jsonb_array_elements(%(infos)s) WITH ORDINALITY u(e, o) ORDER BY o",
        {"project": project_id, "infos": as_json(list(infos))},
    )


async def count(db: Database, import_id: int, added: int, present: int, refused: Sequence[Mapping[str, Any]]) -> None:
    """Adds to the figures of an import; ``refused`` rows have line, reason and text."""
    await db.execute(
        "UPDATE task_import SET added = added + %(added)s, present = present + %(present)s, refused = refused + %(refused)s"
        " WHERE id = %(id)s",
        {"id": import_id, "added": added, "present": present, "refused": len(refused)},
    )
    if refused:
        await db.execute(
            "INSERT INTO import_error (import_id, line, reason, text) SELECT %(id)s, r.line, r.reason, r.text"
            " FROM jsonb_to_recordset(%(rows)s) r(line bigint, reason text, text text)"
            " WHERE (SELECT count(*) FROM import_error WHERE import_id = %(id)s) < %(most)s ON CONFLICT DO NOTHING",
            {"id": import_id, "rows": as_json([dict(row) for row in refused]), "most": KEPT_ERRORS},
        )


async def end(db: Database, import_id: int) -> Row:
    """Says that an import is done, and its figures."""
    return await one(
        db,
        "UPDATE task_import SET ended = clock() WHERE id = %(id)s RETURNING added, present, refused, project_id, file",
        {"id": import_id},
    )


async def errors(db: Database, import_id: int, after: int, most: int) -> list[Row]:
    """Refused rows behind a line: line, reason, text."""
    return await db.fetch(
        "SELECT line, reason, text FROM import_error WHERE import_id = %(id)s AND line > %(after)s ORDER BY line LIMIT %(most)s",
        {"id": import_id, "after": after, "most": most},
    )


async def sweep(db: Database, days: int, pending_days: int) -> int:
    """Removes imports that ended so long ago, and those that nobody said a word about; how many."""
    return await db.execute(
        "DELETE FROM task_import i WHERE created < clock() - make_interval(days => CASE WHEN queue_item IS NULL THEN %(pending)s"
        " ELSE %(days)s END) AND NOT EXISTS (SELECT FROM queue_item q WHERE q.id = i.queue_item AND q.state IN ('waiting', 'running'))",
        {"days": days, "pending": pending_days},
    )


async def files(db: Database) -> set[str]:
    """The files that are still wanted."""
    rows = await db.fetch("SELECT file FROM task_import WHERE ended IS NULL")
    return {row["file"] for row in rows}
