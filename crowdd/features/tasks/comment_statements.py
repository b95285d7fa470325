"""Comments on tasks: written by volunteers, read and answered by owners (`tasks/44_comments.sql`)."""

from __future__ import annotations

from typing import cast

from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.database.access import Database, fetch_rows, one
from crowdd.features.tasks.rows import ReadComment, TaskComment
from crowdd.kernel.requester import Requester

_MAX_INFO_BYTES = 4000  # of a task; of a larger one nothing is shown
_ISO = 'YYYY-MM-DD"T"HH24:MI:SS.US'
_REPLIES = (
    f"(SELECT coalesce(json_agg(json_build_object('id', a.id, 'created', to_char(a.created AT TIME ZONE 'UTC', '{_ISO}'), 'text', a.text, 'gone', a.state = 'gone') ORDER BY a.id), '[]')"
    " FROM task_comment a WHERE a.reply_to = c.id) AS replies"
)
_COLUMNS = (
    f"c.id, c.task_id, c.created, c.kind, c.text, c.settled, c.shared, c.state, {_REPLIES}, w.word AS volunteer,"
    " (SELECT count(*) FROM comment_report x WHERE x.comment_id = c.id)::int AS n_reports,"
    f" CASE WHEN octet_length(t.info::text) <= {_MAX_INFO_BYTES} THEN t.info END AS info"
)
_JOINS = (
    "JOIN task t ON t.project_id = c.project_id AND t.id = c.task_id"
    " LEFT JOIN volunteer_word w ON w.project_id = c.project_id AND w.actor = c.actor"
)


async def add(
    db: Database,
    who: Requester,
    network: str,
    project_id: int,
    task_id: int,
    kind: str,
    text: str,
    limits: tuple[int, int],
) -> str:
    """What became of a comment. ``limits``: those of a volunteer in a day, and those that are open in a project."""
    row = await one(
        db,
        "SELECT comment_task(%(project)s, %(task)s, %(actor)s, %(me)s, %(is_admin)s, %(unlocked)s::text[], %(network)s,"
        " %(kind)s, %(text)s, %(daily)s, %(open)s, clock()) AS state",
        {
            **who.entry_values(), "actor": who.actor, "network": network, "project": project_id, "task": task_id,
            "kind": kind, "text": text, "daily": limits[0], "open": limits[1],
        },
    )  # fmt: skip
    return str(row["state"])


async def refused(db: Database, who: Requester, network: str, project_id: int) -> str | None:
    """Why the requester may not comment on the tasks of a project, as the states of ``add``; None: they may."""
    row = await one(
        db,
        "SELECT comment_refusal(%(project)s, %(actor)s, %(me)s, %(is_admin)s, %(unlocked)s::text[], %(network)s) AS state",
        {**who.entry_values(), "actor": who.actor, "network": network, "project": project_id},
    )
    return cast("str | None", row["state"])


async def listed(db: Database, project_id: int, which: str, place: Keyset) -> KeysetPage[TaskComment]:
    """A page of comments of a project for its owners, with hidden columns: ``open`` ones, those ``done``, or ``held``."""
    condition = {"open": "NOT c.settled", "done": "c.settled", "held": "c.state = 'held'"}[which]
    rows = await fetch_rows(
        db,
        TaskComment,
        f"SELECT {_COLUMNS} FROM task_comment c {_JOINS} WHERE c.project_id = %(project)s AND {condition}"
        " AND c.reply_to IS NULL"
        f" AND {place.beside('task_comment', 'c.id', ['c.id'])} {place.limited(['c.id'])}",
        {"project": project_id, **place.values()},
    )
    return place.part(rows)


async def of_task(db: Database, project_id: int, task_id: int, maximum: int) -> list[TaskComment]:
    """The newest comments on a task, open ones first, for the owners of its project."""
    return await fetch_rows(
        db,
        TaskComment,
        f"SELECT {_COLUMNS} FROM task_comment c {_JOINS} WHERE c.project_id = %(project)s AND c.task_id = %(task)s"
        " AND c.reply_to IS NULL"
        " ORDER BY c.settled, c.id DESC LIMIT %(maximum)s",
        {"project": project_id, "task": task_id, "maximum": maximum},
    )


async def settle(db: Database, project_id: int, comment_id: int, settled: bool) -> bool:
    """Marks a comment of the project as done, or as open again; False when there is none."""
    sql = "UPDATE task_comment SET settled = %(settled)s WHERE project_id = %(project)s AND id = %(id)s"
    return await db.execute(sql, {"project": project_id, "id": comment_id, "settled": settled}) > 0


async def of_reader(db: Database, actor: str, project_id: int, task_id: int, maximum: int) -> list[ReadComment]:
    """The newest comments on a task that a volunteer reads: their own, and those that are shared with them."""
    return await fetch_rows(
        db,
        ReadComment,
        f"SELECT c.id, c.created, c.text, c.shared, c.state, c.actor = %(actor)s AS own, {_REPLIES}"
        " FROM task_comment c WHERE c.project_id = %(project)s AND c.task_id = %(task)s AND c.reply_to IS NULL AND (c.actor = %(actor)s"
        " OR c.shared AND c.state IN ('shown', 'approved', 'gone') AND NOT EXISTS (SELECT FROM account a WHERE a.id = c.user_id AND a.\"restrict\")"
        " AND (SELECT shares_comments(%(project)s, %(task)s, %(actor)s)))"
        " ORDER BY c.id DESC LIMIT %(maximum)s",
        {"project": project_id, "task": task_id, "actor": actor, "maximum": maximum},
    )


async def is_shared(db: Database, actor: str, project_id: int, task_id: int) -> bool:
    """Whether others who have answered the task read what a volunteer writes about it."""
    values = {"project": project_id, "task": task_id, "actor": actor}
    return bool((await one(db, "SELECT shares_comments(%(project)s, %(task)s, %(actor)s) AS shared", values))["shared"])


async def report(db: Database, actor: str, project_id: int, task_id: int, comment_id: int) -> bool:
    """Notes the report of a volunteer; False when there is no such comment of others for them."""
    row = await one(
        db,
        "SELECT report_comment(%(project)s, %(task)s, %(comment)s, %(actor)s, clock()) AS done",
        {"project": project_id, "task": task_id, "comment": comment_id, "actor": actor},
    )
    return bool(row["done"])


async def show(db: Database, project_id: int, comment_id: int, shown: bool) -> bool:
    """Lets others read a shared comment whatever is reported, or hides it with its answers; False when there is none."""
    sql = (
        "UPDATE task_comment SET state = CASE WHEN %(shown)s THEN 'approved' ELSE 'hidden' END"
        " WHERE project_id = %(project)s AND id = %(id)s AND shared AND NOT by_owner AND state <> 'gone'"
    )
    return await db.execute(sql, {"project": project_id, "id": comment_id, "shown": shown}) > 0


async def reply(db: Database, user_id: int, project_id: int, comment_id: int, text: str, maximum: int) -> str:
    """What became of the answer of an owner to a comment: stored, none or full."""
    row = await one(
        db,
        "SELECT reply_to_comment(%(project)s, %(comment)s, %(user)s, %(text)s, %(maximum)s, clock()) AS state",
        {"project": project_id, "comment": comment_id, "user": user_id, "text": text, "maximum": maximum},
    )
    return str(row["state"])
