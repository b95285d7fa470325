"""Removes deliveries of webhooks that the log keeps no longer."""

from __future__ import annotations

from crowdd.domain.server.services import Services
from crowdd.sched.schedule import HOUR, Job


async def _sweep(services: Services) -> str:
    kept = services.settings.webhooks
    return f"{await services.webhooks.prune(kept.log_days, kept.log_rows)} removed"


JOB = Job("sweep_deliveries", HOUR, _sweep)
