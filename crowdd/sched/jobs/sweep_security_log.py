"""Remove entries of the security log after their time, and networks of keys that are not used any more."""

from __future__ import annotations

from crowdd.domain.server.services import Services
from crowdd.sched.schedule import HOUR, Job


async def _sweep(services: Services) -> str:
    return f"{await services.security_log.sweep(services.db, services.settings.log.security_days)} removed"


JOB = Job("sweep_security_log", HOUR, _sweep)
