"""What people decide of completed tasks (definitions 48)."""

from __future__ import annotations

from crowdd.storage.database import Database, fetch_row, fetch_row_or_none, fetch_rows, one_or_none
from crowdd.storage.tasks.review.rows import Decided, ReviewCase, ReviewedRun, ReviewOpinion
from crowdd.values import Json

MAX_RUNS = 200
_MAX_INFO_BYTES = 4000

_CASE = (
    "SELECT r.id AS result_id, r.task_id, r.version, r.class::int AS class_, r.confidence::numeric::float8 AS confidence,"
    " CASE WHEN r.n_compared > 1 THEN r.agreement::numeric::float8 END AS agreement, r.reason, r.posterior::float8[] AS posterior,"
    " coalesce(r.log_likelihoods, b.log_likelihoods)::float8[] AS added, r.task_run_ids, to_jsonb(q.choices) AS choices, r.decided_by, a.name AS decided_name, r.decided_at"
    " FROM result r JOIN trust_model q ON q.project_id = r.project_id LEFT JOIN account a ON a.id = r.decided_by"
    " LEFT JOIN LATERAL (SELECT b.log_likelihoods FROM result b WHERE b.project_id = r.project_id AND b.task_id = r.task_id"
    " AND b.task_run_ids = r.task_run_ids AND b.log_likelihoods IS NOT NULL ORDER BY b.version DESC LIMIT 1) b ON true"
)


async def case(db: Database, project_id: int, task_id: int) -> ReviewCase | None:
    """The last result of a completed task; None without one, or where the first answer field is no label."""
    return await fetch_row_or_none(
        db,
        ReviewCase,
        f"{_CASE} JOIN task_ledger l ON l.project_id = r.project_id AND l.task_id = r.task_id AND l.done AND l.mode <> 'gold'"
        " WHERE r.project_id = %(project)s AND r.task_id = %(task)s AND r.last_version AND r.reason IS NOT NULL",
        {"project": project_id, "task": task_id},
    )


async def opinions(db: Database, project_id: int, task_id: int) -> list[ReviewOpinion]:
    """What has been said of a task while a second opinion is wanted, the first first."""
    return await fetch_rows(
        db,
        ReviewOpinion,
        "SELECT o.user_id, a.name AS user_name, o.class::int AS class_, o.at FROM review_opinion o JOIN account a ON a.id = o.user_id"
        " WHERE o.project_id = %(project)s AND o.task_id = %(task)s AND o.result_id IS NULL ORDER BY o.at, o.user_id",
        {"project": project_id, "task": task_id},
    )


async def decide(
    tx: Database, project_id: int, task_id: int, result_id: int, user_id: int | None, class_: int, *, owns: bool
) -> Decided:
    """Decides a task of which ``result_id`` was the last result: decided, same, waiting, differ, before, changed, open or class."""
    return await fetch_row(
        tx,
        Decided,
        "SELECT * FROM decide_task(%(project)s, %(task)s, %(seen)s, %(user)s, %(class)s, %(owns)s, clock())",
        {"project": project_id, "task": task_id, "seen": result_id, "user": user_id, "class": class_, "owns": owns},
    )


async def ask(tx: Database, project_id: int, task_id: int, result_id: int, user_id: int, class_: int | None) -> Decided:
    """Asks for what somebody else thinks of a task: asked, before, changed, open or class."""
    return await fetch_row(
        tx,
        Decided,
        "SELECT * FROM ask_for_opinion(%(project)s, %(task)s, %(seen)s, %(user)s, %(class)s, clock())",
        {"project": project_id, "task": task_id, "seen": result_id, "user": user_id, "class": class_},
    )


async def choices(db: Database, project_id: int) -> list[Json]:
    """The classes of a project in their order; [] where the first answer field is no label."""
    row = await one_or_none(
        db,
        "SELECT to_jsonb(choices) AS choices FROM trust_model WHERE project_id = %(project)s",
        {"project": project_id},
    )
    return list(row["choices"]) if row else []


async def runs(db: Database, project_id: int, task_id: int) -> list[ReviewedRun]:
    """The answers to a task, those that count first, at most MAX_RUNS. Of a long one nothing but its class is told."""
    return await fetch_rows(
        db,
        ReviewedRun,
        f"SELECT r.id, r.class::int AS class_, CASE WHEN octet_length(r.info::text) <= {_MAX_INFO_BYTES} THEN r.info END AS info,"
        " r.counted, r.unreliable, w.word AS volunteer, v.accuracy::numeric::float8 AS accuracy"
        " FROM task_run r LEFT JOIN volunteer_word w ON w.project_id = r.project_id AND w.actor = r.actor"
        " LEFT JOIN trust_model q ON q.project_id = r.project_id"
        " LEFT JOIN reliability v ON v.project_id = r.project_id AND v.actor = r.actor AND v.generation = q.generation"
        f" WHERE r.project_id = %(project)s AND r.task_id = %(task)s ORDER BY r.counted DESC, r.id LIMIT {MAX_RUNS}",
        {"project": project_id, "task": task_id},
    )
