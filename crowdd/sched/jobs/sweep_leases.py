"""Remove expired leases, scan positions of volunteers who have been away for long, and links with old browsers."""

from __future__ import annotations

from crowdd.sched.job import HOUR, Job
from crowdd.storage.database import Database
from crowdd.storage.tasks import stale_rows

EXPIRED_LEASE_DAYS = 30  # how long an answer is accepted after its lease has expired
POSITION_DAYS = 90  # how long a scan position is kept; a volunteer without one starts at the first task again
LINK_DAYS = 366  # how long an account is linked with a browser that gave no answer; its cookie has ended since


async def _sweep_leases(db: Database) -> str:
    leases = await stale_rows.sweep_expired_leases(db, EXPIRED_LEASE_DAYS)
    positions = await stale_rows.sweep_positions(db, POSITION_DAYS)
    links = await stale_rows.sweep_links(db, LINK_DAYS)
    return f"{leases} past leases, {positions} positions and {links} links removed"


JOB = Job("sweep_leases", 6 * HOUR, lambda services: _sweep_leases(services.db))
