"""Volunteers and networks that owners keep out of their projects (`tasks/42_bars.sql`)."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.database.access import Database, fetch_row_or_none, fetch_rows, one
from crowdd.features.tasks.rows import Author, Bar, BarSubject

MAXIMUM = 500  # bars of a project that are shown


async def bar(db: Database, project_id: int, subject: str, shown: str | None, user_id: int | None, reason: str) -> int:
    """The id of the bar. ``subject``: an actor, or ``n:`` and the pseudonym of a network."""
    row = await one(
        db,
        "SELECT bar(%(project)s, %(subject)s, %(shown)s, %(user)s, %(reason)s, clock()) AS id",
        {"project": project_id, "subject": subject, "shown": shown, "user": user_id, "reason": reason},
    )
    return int(row["id"])


async def unbar(db: Database, project_id: int, bar_id: int) -> bool:
    """Lifts a bar; False when it does not exist."""
    row = await one(db, "SELECT unbar(%(project)s, %(bar)s) AS done", {"project": project_id, "bar": bar_id})
    return bool(row["done"])


async def listed(db: Database, project_id: int) -> list[Bar]:
    """The bars of a project, the newest first."""
    return await fetch_rows(
        db,
        Bar,
        "SELECT b.id, b.subject, b.shown, b.at, b.reason, a.name AS user_name, o.name AS by_name, w.word AS volunteer"
        " FROM barred_volunteer b LEFT JOIN volunteer_word w ON w.project_id = b.project_id AND w.actor = b.subject"
        " LEFT JOIN account a ON b.subject = 'u:' || a.id LEFT JOIN account o ON o.id = b.user_id"
        f" WHERE b.project_id = %(project)s ORDER BY b.id DESC LIMIT {MAXIMUM}",
        {"project": project_id},
    )


async def find(db: Database, project_id: int, bar_id: int) -> BarSubject | None:
    """Whom a bar keeps out."""
    return await fetch_row_or_none(
        db,
        BarSubject,
        "SELECT subject, shown FROM barred_volunteer WHERE project_id = %(project)s AND id = %(bar)s",
        {"project": project_id, "bar": bar_id},
    )


async def author(db: Database, project_id: int, run_id: int) -> Author | None:
    """The volunteer of an answer of the project."""
    return await fetch_row_or_none(
        db,
        Author,
        "SELECT actor, user_ip FROM task_run WHERE project_id = %(project)s AND id = %(run)s",
        {"project": project_id, "run": run_id},
    )


async def tasks_of(db: Database, project_id: int, subject: str, after: int, maximum: int) -> list[int]:
    """The next tasks that the subject has answered or leased, by id."""
    row = await one(
        db,
        "SELECT tasks_of_subject(%(project)s, %(subject)s, %(after)s, %(maximum)s) AS ids",
        {"project": project_id, "subject": subject, "after": after, "maximum": maximum},
    )
    return list(row["ids"])


async def set_aside(db: Database, project_id: int, task_ids: Sequence[int], bar_id: int) -> int:
    """Sets aside what a bar names of these tasks; how many answers."""
    row = await one(
        db,
        "SELECT answers FROM set_aside(%(project)s, %(tasks)s::bigint[], %(bar)s, clock())",
        {"project": project_id, "tasks": list(task_ids), "bar": bar_id},
    )
    return int(row["answers"])


async def bring_back(db: Database, project_id: int, bar_id: int, after: int, maximum: int) -> tuple[int | None, int]:
    """Brings answers to the next tasks back; the last of these tasks, None at the end, and how many answers."""
    row = await one(
        db,
        "SELECT last, answers FROM bring_back(%(project)s, %(bar)s, %(after)s, %(maximum)s, clock())",
        {"project": project_id, "bar": bar_id, "after": after, "maximum": maximum},
    )
    return row["last"], int(row["answers"])


async def has_aside(db: Database, project_id: int, bar_id: int, after: int) -> bool:
    """Whether answers to later tasks are aside by a bar."""
    return bool(
        await db.fetch(
            "SELECT FROM task_run WHERE aside = %(bar)s AND project_id = %(project)s AND task_id > %(after)s LIMIT 1",
            {"project": project_id, "bar": bar_id, "after": after},
        )
    )
