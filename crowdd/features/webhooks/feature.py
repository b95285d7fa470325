"""Webhooks of projects: settings and pages."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.webhooks.webhooks import WebhookPart, Webhooks
from crowdd.kernel.config.outbound import WebhookSettings
from crowdd.sched.job import HOUR, Job


@attrs.frozen
class WebhooksFeature(Feature):
    """What owners set and see of the webhook of a project."""

    webhooks: Webhooks

    @classmethod
    def build(cls, base: Base, projects: ProjectsFeature) -> WebhooksFeature:
        webhooks = Webhooks(base.db, base.notify, base.secrets, base.outgoing)
        projects.parts.append(WebhookPart(webhooks))
        return cls(webhooks)


async def _sweep_deliveries(webhooks: Webhooks, settings: WebhookSettings) -> str:
    return f"{await webhooks.prune(settings.log_days, settings.log_rows)} removed"


# Remove webhook deliveries that are older than the log keeps.
JOB = Job(
    "sweep_deliveries",
    HOUR,
    lambda house: _sweep_deliveries(house[WebhooksFeature].webhooks, house.base.settings.webhooks),
)
