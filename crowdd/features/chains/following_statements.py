"""SQL of what makes the tasks of the next step (definitions/tasks/48_chains.sql)."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.database.access import Database, as_json, fetch_row, fetch_row_or_none, fetch_rows
from crowdd.features.chains.rows import ChangedSource, Followed, KnownPart, Link, SourceRow
from crowdd.kernel.values import Values


async def list_due(db: Database, idle: int) -> list[int]:
    """The next projects of the links that have something to follow, or are ``idle`` transactions behind."""
    rows = await db.fetch("SELECT id FROM due_links(%(idle)s, clock()) d (id)", {"idle": idle})
    return [row["id"] for row in rows]


async def find_link(db: Database, next_id: int) -> Link | None:
    """A link as it is now; None for one that is gone."""
    return await fetch_row_or_none(
        db,
        Link,
        "SELECT l.project_id, l.next_project_id, l.rule, l.position, l.position_task, change_horizon() AS horizon, n.owner_id, l.failure,"
        " (SELECT coalesce(t.max_answers, t.n_answers) FROM task_ledger t WHERE t.project_id = l.next_project_id ORDER BY t.task_id LIMIT 1) AS n_answers"
        " FROM chain_link l JOIN project n ON n.id = l.next_project_id WHERE l.next_project_id = %(next)s",
        {"next": next_id},
    )


async def list_changed(db: Database, link: Link, maximum: int) -> list[ChangedSource]:
    """The next tasks with changes behind the position of a link."""
    return await fetch_rows(
        db,
        ChangedSource,
        "SELECT c.task_id, c.changed FROM chain_link l, changed_sources(l, %(horizon)s, %(maximum)s) c WHERE l.next_project_id = %(next)s",
        {"horizon": link.horizon, "maximum": maximum, "next": link.next_project_id},
    )


async def list_open(db: Database, next_id: int, maximum: int) -> list[int]:
    """Sources of marked tasks that nobody has answered any more."""
    rows = await db.fetch(
        "SELECT t FROM chain_link l, open_sources(l, %(maximum)s, clock()) t WHERE l.next_project_id = %(next)s",
        {"next": next_id, "maximum": maximum},
    )
    return [row["t"] for row in rows]


async def read_sources(db: Database, project_id: int, task_ids: Sequence[int]) -> list[SourceRow]:
    """What these tasks say."""
    return await fetch_rows(
        db,
        SourceRow,
        "SELECT * FROM read_sources(%(project)s, %(tasks)s::bigint[])",
        {"project": project_id, "tasks": list(task_ids)},
    )


async def list_complete(db: Database, project_id: int, maximum: int) -> list[int]:
    """The tasks of a project that were completed first, drafts included."""
    rows = await db.fetch(
        "SELECT task_id FROM result WHERE project_id = %(project)s AND last_version ORDER BY id LIMIT %(maximum)s",
        {"project": project_id, "maximum": maximum},
    )
    return [row["task_id"] for row in rows]


async def list_parts(db: Database, next_id: int, task_ids: Sequence[int]) -> list[KnownPart]:
    """All parts that were made of these tasks."""
    return await fetch_rows(
        db,
        KnownPart,
        "SELECT source_task_id, part, place FROM task_source WHERE source_task_id = ANY (%(tasks)s::bigint[]) AND project_id = %(next)s",
        {"next": next_id, "tasks": list(task_ids)},
    )


async def follow(db: Database, next_id: int, sources: Sequence[Values]) -> Followed:
    """Makes the tasks of a project what ``sources`` say ({task, result, parts} each)."""
    return await fetch_row(
        db,
        Followed,
        "SELECT made, updated, deleted, marked FROM follow_sources(%(next)s, %(sources)s, clock())",
        {"next": next_id, "sources": as_json(sources)},
    )


async def move(db: Database, link: Link, position: int, task_id: int) -> None:
    """Everything up to here was followed."""
    await db.execute(
        "UPDATE chain_link SET position = %(position)s, position_task = %(task)s, failure = NULL, retry_at = NULL"
        " WHERE next_project_id = %(next)s",
        {"position": position, "task": task_id, "next": link.next_project_id},
    )


async def fail(db: Database, next_id: int, failure: str) -> None:
    """Says why a link does not go on; it is tried again a minute later."""
    await db.execute(
        "UPDATE chain_link SET failure = %(failure)s, retry_at = clock() + interval '1 minute' WHERE next_project_id = %(next)s",
        {"next": next_id, "failure": failure},
    )
