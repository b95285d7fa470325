"""Removes idempotency keys that have had their day."""

from __future__ import annotations

from crowdd.domain.server.services import Services
from crowdd.sched.schedule import MINUTE, Job
from crowdd.storage.core import idempotency


async def _sweep(services: Services) -> str:
    return f"{await idempotency.sweep(services.db)} removed"


JOB = Job("sweep_keys", 10 * MINUTE, _sweep)
