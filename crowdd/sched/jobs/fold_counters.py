"""Fold appended counters, so that reading them stays cheap."""

from __future__ import annotations

from crowdd.sched.job import Job
from crowdd.storage.database import Database
from crowdd.storage.projects import statistics


async def _fold(db: Database) -> str:
    return f"{await statistics.fold(db)} rows"


JOB = Job("fold_counters", 2, lambda services: _fold(services.db))
