"""The pages and the API of batches."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.base import Base
from crowdd.features.batches.api import MediaFiles
from crowdd.features.batches.feature import BatchesFeature
from crowdd.features.batches.pages import MediaPages
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.features.statistics.web import StatisticsWeb
from crowdd.features.tasks.feature import TasksFeature
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web


@attrs.frozen
class BatchesWeb(FeatureWeb):
    """Batches in the browser and over REST."""

    web: Web
    base: Base
    projects: ProjectsFeature
    tasks: TasksFeature
    batches: BatchesFeature
    project_pages: ProjectsWeb
    statistics_pages: StatisticsWeb

    def views(self) -> Iterator[View]:
        projects, views, batches = self.projects.projects, self.project_pages.project_views, self.batches.media_batches
        yield MediaPages(projects, batches, self.tasks.sample_tasks, self.web.forms, views)
        yield MediaFiles(projects, batches, self.base.languages)
        yield self.statistics_pages.live_progress("media", batches)
