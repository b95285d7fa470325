"""Folds appended counters, so that reading them stays cheap."""

from __future__ import annotations

from crowdd.domain.server.services import Domain
from crowdd.sched.schedule import Job
from crowdd.storage.projects import statistics


async def _fold(domain: Domain) -> str:
    return f"{await statistics.fold(domain.db)} rows"


JOB = Job("fold_counters", 2, _fold)
