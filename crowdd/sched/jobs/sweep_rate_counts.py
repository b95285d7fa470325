"""Removes counts of requests whose window is over."""

from __future__ import annotations

from crowdd.domain.server.services import Domain
from crowdd.sched.schedule import MINUTE, Job
from crowdd.storage.core import rate_counts


async def _sweep(domain: Domain) -> str:
    return f"{await rate_counts.sweep(domain.db)} removed"


JOB = Job("sweep_rate_counts", 15 * MINUTE, _sweep)
