"""Periodic jobs: when each is due, and how it went (definitions/server/70_jobs.sql)."""

from __future__ import annotations

from collections.abc import Mapping

from crowdd.storage.core import batch_delete
from crowdd.storage.database import Database, fetch_row, fetch_rows, one
from crowdd.storage.server.rows import BegunJob, JobRun, JobState, JobWait


async def first_waits(db: Database, periods: Mapping[str, float]) -> dict[str, float]:
    """In how many seconds to look at each of these jobs, by their periods; new ones are added, as ``begin`` does.

    A job that another process adds at the same moment is left out, and one that is said to be running is due at once,
    as is one that is due later than its period allows: the clock was set back. Rows are added by name, so that two
    processes that start with other jobs wait for each other in one direction only.
    """
    rows = await fetch_rows(
        db,
        JobWait,
        "WITH added AS (INSERT INTO job (name, due) SELECT name, clock() + make_interval(secs => least(period, 60))"
        " FROM unnest(%(names)s::text[], %(periods)s::float8[]) given (name, period)"
        " ORDER BY name ON CONFLICT DO NOTHING RETURNING name, due)"
        " SELECT name, greatest(0, extract(epoch FROM due - clock()))::float8 AS wait FROM added"
        " UNION ALL SELECT name, CASE WHEN outcome = 'running' OR due > latest_due(period, clock()) THEN 0"
        " ELSE greatest(0, extract(epoch FROM due - clock())) END::float8"
        " FROM job JOIN unnest(%(names)s::text[], %(periods)s::float8[]) given (name, period) USING (name)",
        {"names": [*periods], "periods": [*periods.values()]},
    )
    return {row.name: row.wait for row in rows}


async def begin(db: Database, name: str, period: float, force: bool) -> BegunJob:
    """Begins a job where that is to be done: ``state`` is ours, early (not due), busy (elsewhere) or broken.

    Ours: the session of ``db`` holds the job's lock until ``end``; ``began`` and ``failures`` (in a row) come along.
    Otherwise ``wait`` says in how many seconds to look again. Broken: the last run ended with its process, which is
    written down now. ``early``: also before it is due. ``db`` must be one session, and outside of a transaction.
    """
    return await fetch_row(
        db,
        BegunJob,
        "SELECT * FROM begin_job(%(name)s, %(period)s, %(early)s, clock())",
        {"name": name, "period": period, "early": force},
    )


async def end(
    db: Database, name: str, begun: BegunJob, *, outcome: str, words: str, wait: float, logged: bool
) -> float | None:
    """Writes down how a run went and gives the lock back; how long the run took.

    None when the run is not the job's last any more: the session was lost meanwhile.
    """
    row = await one(
        db,
        "SELECT end_job(%(name)s, %(began)s, %(outcome)s, %(words)s, %(wait)s, %(logged)s, clock()) AS seconds",
        {
            "name": name,
            "began": begun.began,
            "outcome": outcome,
            "words": words,
            "wait": wait,
            "logged": logged,
        },
    )
    return None if row["seconds"] is None else float(row["seconds"])


async def list_jobs(db: Database) -> list[JobState]:
    """Every periodic job that ever ran."""
    return await fetch_rows(
        db,
        JobState,
        "SELECT name, due, outcome, began, seconds, words, failures, runs,"
        " greatest(0, extract(epoch FROM clock() - due))::float8 AS overdue FROM job ORDER BY name",
    )


async def log(db: Database, name: str, limit: int) -> list[JobRun]:
    """The last runs of a job in its log, the newest first."""
    return await fetch_rows(
        db,
        JobRun,
        "SELECT began, seconds, outcome, words FROM job_run WHERE name = %(name)s ORDER BY id DESC LIMIT %(limit)s",
        {"name": name, "limit": limit},
    )


async def sweep(db: Database, days: int) -> int:
    """Removes from the log what is older, and jobs that have not run for so long."""
    old = {"days": days}
    gone = await batch_delete.sweep(db, "job_run", "began < clock() - make_interval(days => %(days)s)", old)
    return gone + await batch_delete.sweep(db, "job", "due < clock() - make_interval(days => %(days)s)", old)
