"""The pages and the API of chains."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.base import Base
from crowdd.features.chains.api import ChainsApi
from crowdd.features.chains.feature import ChainsFeature
from crowdd.features.chains.pages import NextStepPages
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class ChainsWeb(FeatureWeb):
    """Chains in the browser and over REST."""

    web: Web
    base: Base
    projects: ProjectsFeature
    chains: ChainsFeature
    project_pages: ProjectsWeb

    def views(self) -> Iterator[View]:
        yield ChainsApi(self.chains.chains)
        yield NextStepPages(
            self.projects.projects,
            self.chains.chains,
            self.base.records,
            self.web.forms,
            self.project_pages.project_views,
        )
