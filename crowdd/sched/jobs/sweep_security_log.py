"""Remove entries of the security log after their time, and networks of keys that are not used any more."""

from __future__ import annotations

from crowdd.domain.server.services import Domain
from crowdd.sched.schedule import HOUR, Job


async def _sweep(domain: Domain) -> str:
    return f"{await domain.security_log.sweep(domain.db, domain.settings.log.security_days)} removed"


JOB = Job("sweep_security_log", HOUR, _sweep)
