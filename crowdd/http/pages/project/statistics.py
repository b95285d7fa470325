"""The statistics of a project."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TypedDict

from crowdd.domain.projects.projects import Projects
from crowdd.domain.projects.statistics import Statistics, StatisticsOfProject
from crowdd.http.pages.project.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response
from crowdd.http.routing import Route, Shared, get


class StatisticsPublic(ProjectPublic, StatisticsOfProject):
    pass


class Charts(TypedDict, total=False):
    """The bars of the charts: pairs of a day, or of an hour, and a figure. Missing without answers."""

    days: list[tuple[datetime, int]]
    hours: list[list[int]]


class StatisticsPrivate(ProjectPrivate, Charts):
    pass


class ProjectStatisticsPages:
    """/project/<short_name>/stats."""

    def __init__(self, projects: Projects, statistics: Statistics, views: ProjectViews) -> None:
        self._projects, self._statistics, self._views = projects, statistics, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/stats", locked_out(self.of_project), hot=True, shared=Shared.NEW_VISITORS)

    async def of_project(self, incoming: Incoming, short_name: str) -> Response:
        row = await self._projects.page(short_name, incoming.who)
        context = await self._views.context(incoming, row)
        context.public["pro_features"]["better_stats_enabled"] = True
        statistics = await self._statistics.of_project(row["id"])
        public = StatisticsPublic(**context.public, **statistics)
        return Page("project/stats.html", public, StatisticsPrivate(**context.private, **_charts(statistics)))


def _charts(statistics: StatisticsOfProject) -> Charts:
    if "projectStats" not in statistics:
        return {}
    days, hours = statistics["projectStats"]["dayStats"][0], statistics["projectStats"]["hourStats"][0]
    dated = [(datetime.fromtimestamp(first / 1000, UTC), count) for first, count in days["values"]]
    return {"days": dated, "hours": [value[:2] for value in hours["values"]]}
