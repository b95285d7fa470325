"""Puts answers that were on their way when somebody left under the pseudonym, then forgets whose it was."""

from __future__ import annotations

from crowdd.domain.server.services import Services
from crowdd.sched.schedule import HOUR, Job


async def _finish(services: Services) -> str:
    return f"{await services.people.account_deletion.finish()} answers found"


JOB = Job("finish_account_deletions", HOUR, _finish)
