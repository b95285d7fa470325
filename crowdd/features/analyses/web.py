"""The pages and the API of analyses."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.features.analyses.api import AnalysesApi
from crowdd.features.analyses.feature import AnalysesFeature
from crowdd.features.analyses.pages import AnalysisPages
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class AnalysesWeb(FeatureWeb):
    """Analyses in the browser and over REST."""

    web: Web
    projects: ProjectsFeature
    analyses: AnalysesFeature
    project_pages: ProjectsWeb

    def views(self) -> Iterator[View]:
        projects = self.projects
        yield AnalysesApi(self.analyses.analyses)
        yield AnalysisPages(projects.projects, self.analyses.analyses, self.web.csrf, self.project_pages.project_views)
