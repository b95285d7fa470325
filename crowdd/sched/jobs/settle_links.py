"""Set aside second answers of people who had answered a task twice before it was known that they are one person."""

from __future__ import annotations

from crowdd.domain.accounts.same_person import SamePerson
from crowdd.sched.job import MINUTE, Job


async def _settle_links(same_person: SamePerson) -> str:
    return f"{await same_person.settle()} answers set aside"


JOB = Job("settle_links", MINUTE, lambda services: _settle_links(services.people.same_person))
