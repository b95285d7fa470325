"""Remove files of personal data after their expiry."""

from __future__ import annotations

import time

from crowdd.domain.accounts.personal_data import PersonalData
from crowdd.sched.job import HOUR, Job


async def _sweep_exports(personal_data: PersonalData) -> str:
    return f"{await personal_data.sweep(time.time())} removed"


JOB = Job("sweep_exports", HOUR, lambda services: _sweep_exports(services.people.personal_data))
