"""Leases after they were given: prolonged, given back, counted (definitions 36)."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.requester import Requester
from crowdd.storage.database import Database, fetch_row, one
from crowdd.storage.tasks.rows import Renewal


async def renew(db: Database, who: Requester, network: str, project_id: int, task_id: int) -> Renewal:
    """What became of the lease."""
    return await fetch_row(
        db,
        Renewal,
        "SELECT r.state, extract(epoch FROM r.ends - now_)::float8 AS left FROM clock() now_,"
        " renew_task(%(project)s, %(actor)s, %(me)s, %(is_admin)s, %(unlocked)s::text[], %(task)s, now_, %(network)s) r",
        {**who.entry_values(), "actor": who.actor, "network": network, "project": project_id, "task": task_id},
    )


async def give_back(db: Database, actor: str, project_id: int, task_ids: Sequence[int], skip: bool) -> int:
    """Ends leases of a volunteer; how many there were."""
    row = await one(
        db,
        "SELECT give_back(%(project)s, %(actor)s, %(tasks)s::bigint[], %(skip)s, clock()) AS n",
        {"project": project_id, "actor": actor, "tasks": list(task_ids), "skip": skip},
    )
    return int(row["n"])


async def held_by_others(db: Database, actor: str, project_id: int) -> int:
    """How many unfinished tasks others have leased that the volunteer could answer; 100 stands for 100 or more."""
    row = await one(db, "SELECT held_by_others(%(project)s, %(actor)s) AS n", {"project": project_id, "actor": actor})
    return int(row["n"])


async def count_skip(db: Database, actor: str, project_id: int, task_id: int, reason: str) -> None:
    """Counts the reason for which a volunteer skipped a task, once for each volunteer; which volunteer gave it is not kept."""
    await db.execute(
        "WITH first AS (INSERT INTO task_skip_by (project_id, task_id, actor) SELECT project_id, id, %(actor)s FROM task"
        " WHERE project_id = %(project)s AND id = %(task)s FOR KEY SHARE ON CONFLICT DO NOTHING RETURNING project_id, task_id)"
        " INSERT INTO task_skip (project_id, task_id, reason, n) SELECT project_id, task_id, %(reason)s, 1 FROM first"
        " ON CONFLICT (project_id, task_id, reason) DO UPDATE SET n = task_skip.n + 1",
        {"actor": actor, "project": project_id, "task": task_id, "reason": reason},
    )


async def skips(db: Database, project_id: int, task_id: int) -> dict[str, int]:
    """How often a task was skipped, by reason."""
    rows = await db.fetch(
        "SELECT reason, n FROM task_skip WHERE project_id = %(project)s AND task_id = %(task)s ORDER BY reason",
        {"project": project_id, "task": task_id},
    )
    return {row["reason"]: row["n"] for row in rows}
