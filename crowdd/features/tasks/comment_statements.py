"""Comments on tasks: written by volunteers, read and answered by owners (definitions 44)."""

from __future__ import annotations

from typing import cast

from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.database.access import Database, fetch_rows, one
from crowdd.features.tasks.rows import OwnComment, TaskComment
from crowdd.kernel.requester import Requester

_MAX_INFO_BYTES = 4000  # of a task; of a larger one nothing is shown
_ISO = 'YYYY-MM-DD"T"HH24:MI:SS.US'
_REPLIES = (
    f"(SELECT coalesce(json_agg(json_build_object('id', a.id, 'created', to_char(a.created AT TIME ZONE 'UTC', '{_ISO}'), 'text', a.text) ORDER BY a.id), '[]')"
    " FROM task_comment a WHERE a.reply_to = c.id) AS replies"
)
_COLUMNS = (
    f"c.id, c.task_id, c.created, c.kind, c.text, c.settled, {_REPLIES}, w.word AS volunteer,"
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


async def listed(db: Database, project_id: int, settled: bool, place: Keyset) -> KeysetPage[TaskComment]:
    """A page of the open comments of a project, or of those that are done, for its owners: with hidden columns."""
    rows = await fetch_rows(
        db,
        TaskComment,
        f"SELECT {_COLUMNS} FROM task_comment c {_JOINS} WHERE c.project_id = %(project)s AND c.settled = %(settled)s"
        " AND c.reply_to IS NULL"
        f" AND {place.beside('task_comment', 'c.id', ['c.id'])} {place.limited(['c.id'])}",
        {"project": project_id, "settled": settled, **place.values()},
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


async def own(db: Database, actor: str, project_id: int, task_id: int, maximum: int) -> list[OwnComment]:
    """The newest comments of a volunteer on a task, with their answers."""
    return await fetch_rows(
        db,
        OwnComment,
        f"SELECT c.id, c.created, c.text, {_REPLIES} FROM task_comment c WHERE c.project_id = %(project)s AND c.actor = %(actor)s"
        " AND c.task_id = %(task)s AND c.reply_to IS NULL ORDER BY c.id DESC LIMIT %(maximum)s",
        {"project": project_id, "task": task_id, "actor": actor, "maximum": maximum},
    )


async def reply(db: Database, user_id: int, project_id: int, comment_id: int, text: str, maximum: int) -> str:
    """What became of the answer of an owner to a comment: stored, none or full."""
    row = await one(
        db,
        "SELECT reply_to_comment(%(project)s, %(comment)s, %(user)s, %(text)s, %(maximum)s, clock()) AS state",
        {"project": project_id, "comment": comment_id, "user": user_id, "text": text, "maximum": maximum},
    )
    return str(row["state"])
