"""Removes files of personal data that have had their days."""

from __future__ import annotations

import time

from crowdd.domain.server.services import Services
from crowdd.sched.schedule import HOUR, Job


async def _sweep(services: Services) -> str:
    return f"{await services.people.personal_data.sweep(time.time())} removed"


JOB = Job("sweep_exports", HOUR, _sweep)
