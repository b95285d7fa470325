"""The loop: handing tasks out and taking answers in. Each is one call of one function (definitions 20 and 30)."""

from __future__ import annotations

from typing import Any

from crowdd.storage.database import Database, Row, as_json, one
from crowdd.values import Requester

# OFFSET 0: one look-up per task, never a join with all tasks of the project.
_NEXT = """
SELECT n.state AS outcome, n.retry_at - clock() AS retry_in, r.*
  FROM next_tasks(%(project)s, %(actor)s, %(me)s, %(is_admin)s, %(unlocked)s::text[], %(limit)s, %(offset)s, %(lane)s, clock()) n
  LEFT JOIN LATERAL unnest(n.tasks) WITH ORDINALITY u(id, o) ON true
  LEFT JOIN LATERAL (SELECT * FROM handed_out t WHERE t.project_id = %(project)s AND t.id = u.id OFFSET 0) r ON true
 ORDER BY u.o"""


async def next_tasks(db: Database, who: Requester, project_id: int, limit: int, offset: int, lane: str) -> list[Row]:
    """One row per task handed out, or one row without a task; each with ``outcome`` and ``retry_in``."""
    values = {
        **who.standing_values(),
        "actor": who.actor,
        "project": project_id,
        "limit": limit,
        "offset": offset,
        "lane": lane,
    }
    return await db.fetch(_NEXT, values)


async def limit_time(tx: Database, seconds: int) -> None:
    """Ends each further statement of the transaction after so many seconds (StatementTimeoutError)."""
    await tx.fetch("SELECT set_config('statement_timeout', %(time)s, true)", {"time": f"{seconds}s"})


async def hold(db: Database, who: Requester, project_id: int, task_id: int) -> str:
    """Hands out one named task; says leased, late, answered, paused, no task, no project, locked or members only."""
    row = await one(
        db,
        "SELECT hold_task(%(project)s, %(actor)s, %(me)s, %(is_admin)s, %(unlocked)s::text[], %(task)s, clock()) AS state",
        {**who.standing_values(), "actor": who.actor, "project": project_id, "task": task_id},
    )
    return str(row["state"])


async def submit(db: Database, who: Requester, project_id: int, task_id: int, values: dict[str, Any]) -> Row:
    """Stores an answer; the row says ``state`` and, when stored, run, granted, finish_time and late_seconds."""
    anonymous = who.external_uid is None and not who.signed_in
    return await one(
        db,
        "SELECT s.*, now_ AS finish_time FROM clock() now_, submit(%(project)s, %(actor)s, %(task)s, %(user)s, %(ip)s, %(external)s,"
        " %(info)s, %(calibration)s, %(media_url)s, now_) s",
        {
            "project": project_id,
            "actor": who.actor,
            "task": task_id,
            "user": who.user_id if who.external_uid is None else None,
            "ip": who.address if anonymous else None,
            "external": who.external_uid,
            "info": as_json(values["info"]),
            "calibration": values.get("calibration"),
            "media_url": values.get("media_url"),
        },
    )


async def delete_run(db: Database, project_id: int, run_id: int) -> bool:
    """Deletes an answer; its task is re-opened when it counted."""
    row = await one(
        db, "SELECT delete_run(%(project)s, %(run)s, clock()) AS done", {"project": project_id, "run": run_id}
    )
    return bool(row["done"])


async def progress(db: Database, actor: str, project: int | str) -> Row | None:
    """Answers of a volunteer and tasks of a project named by id or short name."""
    column = "id" if isinstance(project, int) else "short_name"
    rows = await db.fetch(
        f"SELECT p.id, runs_of(p.id, %(actor)s) AS done, (SELECT n_tasks FROM project_figures f WHERE f.project_id = p.id) AS total,"
        f" p.lock_id, p.owners_ids FROM project p WHERE p.{column} = %(project)s",
        {"actor": actor, "project": project},
    )
    return rows[0] if rows else None


async def in_final_result(db: Database, project_id: int, task_id: int, run_id: int) -> bool:
    """Whether an answer is part of the last result of its task."""
    rows = await db.fetch(
        "SELECT FROM result WHERE project_id = %(project)s AND task_id = %(task)s AND last_version AND %(run)s = ANY (task_run_ids)",
        {"project": project_id, "task": task_id, "run": run_id},
    )
    return bool(rows)
