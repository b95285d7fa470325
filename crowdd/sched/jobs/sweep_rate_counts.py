"""Removes counts of requests whose window is over."""

from __future__ import annotations

from crowdd.domain.server.services import Services
from crowdd.sched.schedule import MINUTE, Job
from crowdd.storage.core import rate_counts


async def _sweep(services: Services) -> str:
    return f"{await rate_counts.sweep(services.db)} removed"


JOB = Job("sweep_rate_counts", 15 * MINUTE, _sweep)
