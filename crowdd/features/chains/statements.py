"""SQL of the links of chains, for owners (definitions/tasks/48_chains.sql)."""

from __future__ import annotations

from crowdd.database.access import Database, as_json, fetch_row_or_none, fetch_rows, one
from crowdd.features.chains.rows import ChangedTask, Columns, NextStep, OwnProject
from crowdd.kernel.values import JsonObject


async def link(db: Database, project_id: int, next_id: int, rule: JsonObject, user_id: int | None, maximum: int) -> str:
    """What ``link_projects`` says. ``user_id``: None for administrators. ``maximum`` next steps a project may have."""
    row = await one(
        db,
        "SELECT link_projects(%(project)s, %(next)s, %(rule)s, %(user)s, %(maximum)s, clock()) AS state",
        {"project": project_id, "next": next_id, "rule": as_json(rule), "user": user_id, "maximum": maximum},
    )
    return str(row["state"])


async def unlink(db: Database, project_id: int, next_id: int) -> bool:
    """Ends a link; whether there was one. Tasks stay."""
    sql = "DELETE FROM chain_link WHERE project_id = %(project)s AND next_project_id = %(next)s"
    return await db.execute(sql, {"project": project_id, "next": next_id}) > 0


async def list_next(db: Database, project_id: int) -> list[NextStep]:
    """The next steps of a project with what was made, the oldest first."""
    return await fetch_rows(
        db,
        NextStep,
        "SELECT p.id, p.name, p.short_name, f.n_tasks - f.n_completed_tasks AS open_tasks, l.rule, s.made, s.changed, c.waiting, l.failure"
        " FROM chain_link l JOIN project p ON p.id = l.next_project_id JOIN project_figures f ON f.project_id = p.id"
        " CROSS JOIN LATERAL (SELECT count(task_id)::int AS made, count(*) FILTER (WHERE changed)::int AS changed"
        "  FROM task_source s WHERE (s.project_id + 0) = l.next_project_id) s"
        " CROSS JOIN LATERAL (SELECT count(*)::int AS waiting FROM chain_source c"
        "  WHERE (c.project_id + 0) = l.next_project_id AND c.parts IS NULL) c"
        " WHERE l.project_id = %(project)s ORDER BY l.created, l.next_project_id",
        {"project": project_id},
    )


async def list_changed(db: Database, next_id: int, maximum: int) -> list[ChangedTask]:
    """Tasks of a step whose source says something else by now."""
    return await fetch_rows(
        db,
        ChangedTask,
        "SELECT task_id, source_task_id, part FROM task_source s WHERE (s.project_id + 0) = %(next)s AND s.changed AND task_id IS NOT NULL"
        " ORDER BY s.source_task_id, s.part LIMIT %(maximum)s",
        {"next": next_id, "maximum": maximum},
    )


async def list_own(db: Database, project_id: int, user_id: int, maximum: int) -> list[OwnProject]:
    """The newest projects of an account that can become a next step of this one: they have an owner in common, too."""
    return await fetch_rows(
        db,
        OwnProject,
        "SELECT n.id, n.name FROM project n JOIN project p ON p.id = %(project)s AND n.owners_ids && p.owners_ids"
        " WHERE n.owners_ids @> ARRAY[%(user)s::bigint] AND n.id <> p.id"
        " AND NOT EXISTS (SELECT FROM chain_link l WHERE l.next_project_id = n.id AND l.project_id <> p.id)"
        " ORDER BY n.id DESC LIMIT %(maximum)s",
        {"project": project_id, "user": user_id, "maximum": maximum},
    )


async def find_columns(db: Database, project_id: int) -> list[str]:
    """The columns that the first task of a project has, without those that are hidden from volunteers."""
    row = await fetch_row_or_none(
        db,
        Columns,
        "SELECT ARRAY(SELECT jsonb_object_keys(CASE WHEN jsonb_typeof(t.info) = 'object' THEN t.info ELSE '{}' END)) AS names,"
        " p.hidden_columns AS hidden FROM task t JOIN project p ON p.id = t.project_id WHERE t.project_id = %(project)s ORDER BY t.id LIMIT 1",
        {"project": project_id},
    )
    return [] if row is None else [name for name in row["names"] if name not in (row["hidden"] or ())]
