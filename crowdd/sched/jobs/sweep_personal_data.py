"""Removes personal data that has been kept as long as the operator wants."""

from __future__ import annotations

from crowdd.domain.server.services import Services
from crowdd.sched.schedule import HOUR, Job


async def _sweep(services: Services) -> str:
    done = await services.retention.sweep()
    return f"{done['answers']} answers checked, {done['acts']} audit rows removed"


JOB = Job("sweep_personal_data", 24 * HOUR, _sweep)
