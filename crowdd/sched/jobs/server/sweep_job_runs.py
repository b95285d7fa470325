"""Remove old runs from the log of jobs, and jobs that no longer exist."""

from __future__ import annotations

from crowdd.sched.job import DAY, Job
from crowdd.storage.database import Database
from crowdd.storage.server import jobs

KEPT_DAYS = 30


async def _sweep_job_runs(db: Database) -> str:
    return f"{await jobs.sweep(db, KEPT_DAYS)} removed"


JOB = Job("sweep_job_runs", DAY, lambda services: _sweep_job_runs(services.db))
