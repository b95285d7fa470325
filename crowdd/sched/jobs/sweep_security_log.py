"""Remove old entries of the security log, and networks of keys that are no longer used."""

from __future__ import annotations

from crowdd.domain.core.security_log import SecurityLog
from crowdd.sched.job import HOUR, Job
from crowdd.storage.database import Database


async def _sweep_security_log(security_log: SecurityLog, db: Database, days: int) -> str:
    return f"{await security_log.sweep(db, days)} removed"


JOB = Job(
    "sweep_security_log",
    HOUR,
    lambda services: _sweep_security_log(services.security_log, services.db, services.settings.log.security_days),
)
