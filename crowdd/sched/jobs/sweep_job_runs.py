"""Shortens the log of jobs, and forgets jobs that are no more."""

from __future__ import annotations

from crowdd.domain.server.services import Services
from crowdd.sched.schedule import DAY, Job
from crowdd.storage.server import jobs

KEPT_DAYS = 30


async def _sweep(services: Services) -> str:
    return f"{await jobs.sweep(services.db, KEPT_DAYS)} removed"


JOB = Job("sweep_job_runs", DAY, _sweep)
