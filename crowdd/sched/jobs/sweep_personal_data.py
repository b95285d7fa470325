"""Remove personal data that has been kept as long as the operator configured."""

from __future__ import annotations

from crowdd.domain.server.retention import Retention
from crowdd.sched.job import HOUR, Job


async def _sweep_personal_data(retention: Retention) -> str:
    done = await retention.sweep()
    return f"{done['answers']} answers checked, {done['acts']} audit rows removed"


JOB = Job("sweep_personal_data", 24 * HOUR, lambda services: _sweep_personal_data(services.retention))
