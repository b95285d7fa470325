"""The jobs of assignment: remove expired leases and old scan positions, and notice a clock that was set back."""

from __future__ import annotations

from twisted.logger import Logger

from crowdd.database.access import Database
from crowdd.sched import statements
from crowdd.sched.job import HOUR, Job

log = Logger()


PERIOD = 30.0


async def _follow(db: Database) -> str:
    back = await statements.follow_clock(db)
    if not back:
        return ""
    log.warn("the clock of the database was set back: seconds={seconds}", seconds=round(back))
    return f"the clock was set back by {back:.0f} seconds"


# Notice when the clock of the database was set back, so that nothing waits for a time that is far away now.
FOLLOW_CLOCK_JOB = Job("follow_clock", PERIOD, lambda house: _follow(house.base.db))


EXPIRED_LEASE_DAYS = 30  # how long an answer is accepted after its lease has expired
POSITION_DAYS = 90  # how long a scan position is kept; a volunteer without one starts at the first task again
LINK_DAYS = 366  # how long an account is linked with a browser that gave no answer; its cookie has ended since


async def _sweep_leases(db: Database) -> str:
    leases = await statements.sweep_expired_leases(db, EXPIRED_LEASE_DAYS)
    positions = await statements.sweep_positions(db, POSITION_DAYS)
    links = await statements.sweep_links(db, LINK_DAYS)
    return f"{leases} past leases, {positions} positions and {links} links removed"


# Remove expired leases, scan positions of volunteers who have been away for long, and links with old browsers.
SWEEP_LEASES_JOB = Job("sweep_leases", 6 * HOUR, lambda house: _sweep_leases(house.base.db))
