"""Removes what is left of leases and of volunteers who have not come for long."""

from __future__ import annotations

from crowdd.domain.server.services import Services
from crowdd.sched.schedule import HOUR, Job
from crowdd.storage.tasks import stale_rows

EXPIRED_LEASE_DAYS = 30  # for which an answer after its lease is still taken
POSITION_DAYS = 90  # for which a volunteer's place in the order is kept; they only begin anew without it


async def _sweep(services: Services) -> str:
    leases = await stale_rows.sweep_expired_leases(services.db, EXPIRED_LEASE_DAYS)
    positions = await stale_rows.sweep_positions(services.db, POSITION_DAYS)
    return f"{leases} past leases and {positions} positions removed"


JOB = Job("sweep_leases", 6 * HOUR, _sweep)
