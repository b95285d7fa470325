"""The pages and the API of webhooks."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.base import Base
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.features.webhooks.feature import WebhooksFeature
from crowdd.features.webhooks.pages import WebhookPages
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class WebhooksWeb(FeatureWeb):
    """Webhooks in the browser and over REST."""

    web: Web
    base: Base
    projects: ProjectsFeature
    webhooks: WebhooksFeature
    project_pages: ProjectsWeb

    def views(self) -> Iterator[View]:
        projects = self.projects
        yield WebhookPages(
            projects.projects,
            self.webhooks.webhooks,
            self.base.records,
            self.web.forms,
            self.project_pages.project_views,
        )
