"""Remove webhook deliveries that are older than the log keeps."""

from __future__ import annotations

from crowdd.config.outbound import WebhookSettings
from crowdd.domain.webhooks.webhooks import Webhooks
from crowdd.sched.job import HOUR, Job


async def _sweep_deliveries(webhooks: Webhooks, settings: WebhookSettings) -> str:
    return f"{await webhooks.prune(settings.log_days, settings.log_rows)} removed"


JOB = Job("sweep_deliveries", HOUR, lambda services: _sweep_deliveries(services.webhooks, services.settings.webhooks))
