"""Shortens the log of jobs, and forgets jobs that are no more."""

from __future__ import annotations

from crowdd.domain.server.services import Domain
from crowdd.sched.schedule import DAY, Job
from crowdd.storage.server import jobs

KEPT_DAYS = 30


async def _sweep(domain: Domain) -> str:
    return f"{await jobs.sweep(domain.db, KEPT_DAYS)} removed"


JOB = Job("sweep_job_runs", DAY, _sweep)
