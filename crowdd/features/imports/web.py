"""The pages and the API of imports."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.features.imports.column_pages import ColumnPages
from crowdd.features.imports.feature import ImportsFeature
from crowdd.features.imports.pages import ImportPages, SourcePages
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.features.statistics.web import StatisticsWeb
from crowdd.features.tasks.feature import TasksFeature
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class ImportsWeb(FeatureWeb):
    """Imports in the browser and over REST."""

    web: Web
    projects: ProjectsFeature
    tasks: TasksFeature
    imports: ImportsFeature
    project_pages: ProjectsWeb
    statistics_pages: StatisticsWeb

    def views(self) -> Iterator[View]:
        projects, views, tasks = self.projects.projects, self.project_pages.project_views, self.tasks
        yield ImportPages(
            projects, self.imports.imports, self.imports.sources, tasks.sample_tasks, self.web.forms, views
        )
        yield SourcePages(projects, self.imports.sources)
        yield ColumnPages(projects, tasks.browsing, self.web.forms, views)
        yield self.statistics_pages.live_progress("import", self.imports.imports)
