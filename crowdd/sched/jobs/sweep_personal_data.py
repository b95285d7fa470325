"""Removes personal data that has been kept as long as the operator wants."""

from __future__ import annotations

from crowdd.domain.server.services import Domain
from crowdd.sched.schedule import HOUR, Job


async def _sweep(domain: Domain) -> str:
    done = await domain.retention.sweep()
    return f"{done['answers']} answers checked, {done['acts']} audit rows removed"


JOB = Job("sweep_personal_data", 24 * HOUR, _sweep)
