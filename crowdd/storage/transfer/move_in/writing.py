"""Writes rows that keep their ids. Functions of SQL keep the ledger and the counters right (definitions 45_move_in)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from crowdd.storage.database import Database, fetch_row, fetch_rows, one
from crowdd.storage.transfer.move_in.rows import Completed, Fate, NamedFile

_OWNER = "SELECT 'user_' || p.owner_id FROM project p WHERE p.id = t.project_id"
WITH_FILES: Final = {
    "account": ("avatar_file", "avatar", "'user_' || t.id"),
    "blogpost": ("media_file", "file_name", f"SELECT 'user_' || t.user_id UNION ALL {_OWNER}"),
    "helpingmaterial": ("media_file", "file_name", _OWNER),
    "announcement": ("media_file", "file_name", "'user_' || t.user_id"),
}
"""Tables whose rows have a file: its column, the key of ``info`` with its name, and the containers that it may be in."""


_NAMES: Final = {
    "account": ("name",),
    "category": ("name", "short_name"),
    "project": ("name", "short_name"),
}
"""Columns with names that are compared by their skeletons."""


async def insert(tx: Database, table: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Adds rows with all their values, ``id`` too. A name that looks like an earlier one comes over as it is."""
    named = _NAMES.get(table, ())
    free = [
        f"CASE WHEN EXISTS (SELECT FROM {table} WHERE {name}_skeleton = skeleton(%({name})s)) THEN '' END"
        for name in named
    ]
    for row in rows:
        names = ", ".join([f'"{name}"' for name in row] + [f"{name}_skeleton" for name in named])
        marks = ", ".join([f"%({name})s" for name in row] + free)
        await tx.execute(f"INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE VALUES ({marks})", row)


async def taken(tx: Database, table: str, column: str, texts: Sequence[str]) -> set[str]:
    """Which of these texts, all in lower case, another row has in upper or lower case."""
    sql = f"SELECT lower({column}) AS text FROM {table} WHERE lower({column}) = ANY (%(texts)s)"
    return {row["text"] for row in await tx.fetch(sql, {"texts": list(texts)})}


async def existing(tx: Database, table: str, ids: Sequence[int]) -> set[int]:
    """Which of these ids a table has."""
    sql = f"SELECT id FROM {table} WHERE id = ANY (%(ids)s)"
    return {row["id"] for row in await tx.fetch(sql, {"ids": list(ids)})}


async def first_administrator(tx: Database) -> int | None:
    """The administrator with the lowest id, or None."""
    return (await one(tx, "SELECT min(id) AS id FROM account WHERE admin"))["id"]


async def first_category(tx: Database) -> int | None:
    """The category with the lowest id, or None."""
    return (await one(tx, "SELECT min(id) AS id FROM category"))["id"]


async def add_ledger(tx: Database, project_id: int, sched: str, *, trial: bool) -> None:
    """The ledger of a new project. One that is no draft is paused until all its rows are there."""
    await tx.execute(
        "INSERT INTO project_ledger (project_id, sched, trial, paused, draft_key, counted_per_network)"
        " SELECT id, %(sched)s, %(trial)s, NOT %(trial)s, draft_key, r.counted_per_network"
        " FROM project, volunteer_rule r WHERE id = %(id)s",
        {"id": project_id, "sched": sched, "trial": trial},
    )
    if trial:
        await tx.execute(
            "WITH draft AS (UPDATE project SET draft_key = new_draft_key() WHERE id = %(id)s RETURNING draft_key)"
            " UPDATE project_ledger l SET draft_key = d.draft_key FROM draft d WHERE l.project_id = %(id)s",
            {"id": project_id},
        )


async def set_times(tx: Database, project_id: int, updated: object) -> None:
    """Sets when a project was last changed."""
    await tx.execute("UPDATE project SET updated = %(at)s WHERE id = %(id)s", {"id": project_id, "at": updated})


async def add_tasks(tx: Database, rows: str) -> list[Fate]:
    """Adds tasks; ``rows`` is the JSON text of ``move_in_tasks``."""
    return await fetch_rows(tx, Fate, "SELECT id, fate FROM move_in_tasks(%(rows)s::jsonb, clock())", {"rows": rows})


async def add_answers(tx: Database, rows: str) -> list[Fate]:
    """Adds answers; ``rows`` is the JSON text of ``move_in_answers``."""
    return await fetch_rows(tx, Fate, "SELECT id, fate FROM move_in_answers(%(rows)s::jsonb, clock())", {"rows": rows})


async def add_results(tx: Database, rows: str) -> list[Fate]:
    """Adds results; ``rows`` is the JSON text of ``move_in_results``."""
    return await fetch_rows(tx, Fate, "SELECT id, fate FROM move_in_results(%(rows)s::jsonb)", {"rows": rows})


async def retire(tx: Database, ids: Sequence[int]) -> list[int]:
    """Retires those of completed tasks that lack answers, and returns them."""
    rows = await tx.fetch("SELECT move_in_states(%(ids)s, clock()) AS id", {"ids": list(ids)})
    return [row["id"] for row in rows]


async def complete(tx: Database, after: int, maximum: int) -> Completed:
    """Completes the next tasks after one that have their answers and no result."""
    sql = "SELECT last, completed FROM move_in_completions(%(after)s, %(maximum)s, clock())"
    return await fetch_row(tx, Completed, sql, {"after": after, "maximum": maximum})


async def publish(tx: Database, ids: Sequence[int]) -> list[int]:
    """Opens those of these projects that are here, and returns them."""
    rows = await tx.fetch(
        "SELECT id FROM (SELECT id, publish(id, clock()) AS done FROM project WHERE id = ANY (%(ids)s)) p WHERE done",
        {"ids": list(ids)},
    )
    return [row["id"] for row in rows]


async def named_files(db: Database, table: str) -> list[NamedFile]:
    """Rows of a table of WITH_FILES whose ``info`` names a file of their own people, which they do not have yet.

    Somebody else's file must not go with a row.
    """
    column, key, people = WITH_FILES[table]
    sql = (
        f"SELECT id, info->>'container' || '/' || (info->>'{key}') AS path FROM {table} t"
        f" WHERE {column} IS NULL AND info->>'{key}' <> '' AND info->>'container' IN ({people}) ORDER BY id"
    )
    return await fetch_rows(db, NamedFile, sql)


async def set_file(tx: Database, table: str, row_id: int, path: str) -> None:
    """Gives a row of a table of WITH_FILES its file."""
    sql = f"UPDATE {table} SET {WITH_FILES[table][0]} = %(path)s WHERE id = %(id)s"
    await tx.execute(sql, {"id": row_id, "path": path})
