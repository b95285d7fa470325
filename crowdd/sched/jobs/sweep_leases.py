"""Remove expired leases, and scan positions of volunteers who have been away for long."""

from __future__ import annotations

from crowdd.sched.job import HOUR, Job
from crowdd.storage.database import Database
from crowdd.storage.tasks import stale_rows

EXPIRED_LEASE_DAYS = 30  # how long an answer is accepted after its lease has expired
POSITION_DAYS = 90  # how long a scan position is kept; a volunteer without one starts at the first task again


async def _sweep_leases(db: Database) -> str:
    leases = await stale_rows.sweep_expired_leases(db, EXPIRED_LEASE_DAYS)
    positions = await stale_rows.sweep_positions(db, POSITION_DAYS)
    return f"{leases} past leases and {positions} positions removed"


JOB = Job("sweep_leases", 6 * HOUR, lambda services: _sweep_leases(services.db))
