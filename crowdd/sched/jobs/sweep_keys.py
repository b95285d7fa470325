"""Removes idempotency keys that have had their day."""

from __future__ import annotations

from crowdd.domain.server.services import Domain
from crowdd.sched.schedule import MINUTE, Job
from crowdd.storage.core import idempotency


async def _sweep(domain: Domain) -> str:
    return f"{await idempotency.sweep(domain.db)} removed"


JOB = Job("sweep_keys", 10 * MINUTE, _sweep)
