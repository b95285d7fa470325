"""Removes deliveries of webhooks that the log keeps no longer."""

from __future__ import annotations

from crowdd.domain.server.services import Domain
from crowdd.sched.schedule import HOUR, Job


async def _sweep(domain: Domain) -> str:
    kept = domain.settings.webhooks
    return f"{await domain.webhooks.prune(kept.log_days, kept.log_rows)} removed"


JOB = Job("sweep_deliveries", HOUR, _sweep)
