"""Notice when the clock of the database was set back, so that nothing waits for a time that is far away now."""

from __future__ import annotations

from twisted.logger import Logger

from crowdd.sched.job import Job
from crowdd.storage.database import Database
from crowdd.storage.server import clock

PERIOD = 30.0

log = Logger()


async def _follow(db: Database) -> str:
    back = await clock.follow(db)
    if not back:
        return ""
    log.warn("the clock of the database was set back: seconds={seconds}", seconds=round(back))
    return f"the clock was set back by {back:.0f} seconds"


JOB = Job("follow_clock", PERIOD, lambda services: _follow(services.db))
