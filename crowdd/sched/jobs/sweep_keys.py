"""Remove idempotency keys after their expiry."""

from __future__ import annotations

from crowdd.sched.job import MINUTE, Job
from crowdd.storage.core import idempotency
from crowdd.storage.database import Database


async def _sweep_keys(db: Database) -> str:
    return f"{await idempotency.sweep(db)} removed"


JOB = Job("sweep_keys", 10 * MINUTE, lambda services: _sweep_keys(services.db))
