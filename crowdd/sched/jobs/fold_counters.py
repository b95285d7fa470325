"""Folds appended counters, so that reading them stays cheap."""

from __future__ import annotations

from crowdd.domain.server.services import Services
from crowdd.sched.schedule import Job
from crowdd.storage.projects import statistics


async def _fold(services: Services) -> str:
    return f"{await statistics.fold(services.db)} rows"


JOB = Job("fold_counters", 2, _fold)
