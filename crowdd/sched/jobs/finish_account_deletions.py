"""Puts answers that were on their way when somebody left under the pseudonym, then forgets whose it was."""

from __future__ import annotations

from crowdd.domain.server.services import Domain
from crowdd.sched.schedule import HOUR, Job


async def _finish(domain: Domain) -> str:
    return f"{await domain.people.farewell.finish()} answers found"


JOB = Job("finish_farewells", HOUR, _finish)
