"""The pages and the API of operations."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.base import Base
from crowdd.features.operations.pages import AdminMail, AdminOperation, AdminQueue
from crowdd.features.site.feature import SiteFeature
from crowdd.features.webhooks.feature import WebhooksFeature
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web
from crowdd.sched.feature import Scheduling


@attrs.frozen
class OperationsWeb(FeatureWeb):
    """Operations in the browser and over REST."""

    web: Web
    base: Base
    webhooks: WebhooksFeature
    site: SiteFeature
    scheduling: Scheduling

    def views(self) -> Iterator[View]:
        administration, forms = self.site.administration, self.web.forms
        yield AdminQueue(administration, self.scheduling.queue, forms)
        yield AdminMail(administration, self.base.mail, forms)
        yield AdminOperation(administration, self.webhooks.webhooks)
