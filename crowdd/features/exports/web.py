"""The pages and the API of exports."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.base import Base
from crowdd.features.exports.api import ExportFollower, ExportsApi
from crowdd.features.exports.feature import ExportsFeature
from crowdd.features.exports.pages import ExportPages
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.features.signin.web import SigninWeb
from crowdd.features.statistics.feature import StatisticsFeature
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class ExportsWeb(FeatureWeb):
    """Exports in the browser and over REST."""

    web: Web
    base: Base
    projects: ProjectsFeature
    exports: ExportsFeature
    statistics: StatisticsFeature
    project_pages: ProjectsWeb
    signin_pages: SigninWeb

    def views(self) -> Iterator[View]:
        projects, broadcast = self.projects, self.statistics.broadcast
        follower = ExportFollower(self.exports.exports, projects.projects, self.signin_pages.identity, broadcast)
        yield ExportsApi(self.exports.exports, self.base.records, projects.projects, follower)
        yield ExportPages(projects.projects, self.exports.exports, self.project_pages.project_views)
