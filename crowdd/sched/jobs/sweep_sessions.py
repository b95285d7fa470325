"""Remove expired sessions, one-time links and login failures."""

from __future__ import annotations

from crowdd.sched.job import MINUTE, Job
from crowdd.storage.accounts import accounts
from crowdd.storage.database import Database


async def _sweep_sessions(db: Database) -> str:
    return f"{await accounts.sweep(db)} removed"


JOB = Job("sweep_sessions", 10 * MINUTE, lambda services: _sweep_sessions(services.db))
