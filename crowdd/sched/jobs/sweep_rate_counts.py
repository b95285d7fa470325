"""Remove counts of requests after the end of their window."""

from __future__ import annotations

from crowdd.sched.job import MINUTE, Job
from crowdd.storage.core import rate_counts
from crowdd.storage.database import Database


async def _sweep_rate_counts(db: Database) -> str:
    return f"{await rate_counts.sweep(db)} removed"


JOB = Job("sweep_rate_counts", 15 * MINUTE, lambda services: _sweep_rate_counts(services.db))
