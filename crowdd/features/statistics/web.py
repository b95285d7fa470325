"""The pages and the API of statistics."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crowdd.core.base import Base
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.projects.web import ProjectsWeb
from crowdd.features.results.feature import ResultsFeature
from crowdd.features.signin.web import SigninWeb
from crowdd.features.statistics.api import StatisticsApi
from crowdd.features.statistics.feature import StatisticsFeature
from crowdd.features.statistics.live_pages import LivePages, LiveProgress, Work
from crowdd.features.statistics.pages import ProjectStatisticsPages, StatisticsPages
from crowdd.features.tasks.feature import TasksFeature
from crowdd.http.api.objects import KEPT_SECONDS, MAX_KEPT_BYTES, Objects, kept_size
from crowdd.http.queries import PastObjects
from crowdd.http.routing import View
from crowdd.http.web import FeatureWeb, Web
from crowdd.kernel.concurrency.cache import Cache


@attrs.frozen
class StatisticsWeb(FeatureWeb):
    """Statistics in the browser and over REST."""

    web: Web
    base: Base
    accounts: AccountsFeature
    projects: ProjectsFeature
    results: ResultsFeature
    tasks: TasksFeature
    statistics: StatisticsFeature
    project_pages: ProjectsWeb
    signin_pages: SigninWeb

    def live_progress(self, what: str, work: Work) -> LiveProgress:
        """The page that tells how far a background task of a project is."""
        identity = self.signin_pages.identity
        return LiveProgress(what, self.projects.projects, work, identity, self.statistics.broadcast)

    def views(self) -> Iterator[View]:
        clock = self.base.shared.reactor
        yield Objects(
            self.base.records,
            self.base.record_texts,
            self.tasks.contributions,
            self.statistics.statistics,
            Cache(clock, KEPT_SECONDS, MAX_KEPT_BYTES, kept_size),
            PastObjects(self.base.history),
        )
        projects, statistics = self.projects.projects, self.statistics.statistics
        yield StatisticsApi(statistics, self.base.records, projects, self.results.finished_tasks)
        yield ProjectStatisticsPages(projects, statistics, self.project_pages.project_views)
        yield StatisticsPages(statistics, self.accounts.accounts)
        yield LivePages(projects, self.statistics.live, self.signin_pages.identity, self.statistics.broadcast)
