"""Removes files of personal data that have had their days."""

from __future__ import annotations

import time

from crowdd.domain.server.services import Domain
from crowdd.sched.schedule import HOUR, Job


async def _sweep(domain: Domain) -> str:
    return f"{await domain.people.personal_data.sweep(time.time())} removed"


JOB = Job("sweep_exports", HOUR, _sweep)
