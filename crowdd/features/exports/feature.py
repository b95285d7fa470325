"""Forget deletions that programs which follow changes were told of long enough."""

from __future__ import annotations

from crowdd.features.exports.exports import Exports
from crowdd.sched.job import HOUR, Job


async def _sweep_deletions(exports: Exports) -> str:
    return f"{await exports.forget_deletions()} deletions forgotten"


JOB = Job("sweep_deletions", 24 * HOUR, lambda services: _sweep_deletions(services.exports))
