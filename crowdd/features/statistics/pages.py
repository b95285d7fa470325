"""The pages of statistics: of a project, of the site, and the leaderboard."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TypedDict

from crowdd.features.accounts.accounts import Accounts
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.serializers import person
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.statistics.statistics import Statistics, StatisticsOfProject, StatisticsOfSite
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response, Titled
from crowdd.http.routing import Route, Shared, get
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values


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


TOP = 20
MAX_WINDOW = 10


class SitePublic(Titled, StatisticsOfSite):
    pass


class LeaderboardPublic(Titled):
    top_users: list[Values]


class LeaderboardPrivate(TypedDict):
    """``window`` is the number of people above and below the requester that are shown."""

    window: int


class StatisticsPages:
    """/stats and /leaderboard."""

    def __init__(self, statistics: Statistics, accounts: Accounts) -> None:
        self._statistics, self._accounts = statistics, accounts

    def routes(self) -> Iterator[Route]:
        yield get("/stats/", self.of_site, shared=Shared.VISITORS)
        yield get("/leaderboard/", self.leaderboard, hot=True, shared=Shared.VISITORS)
        yield get("/leaderboard/window/<int:window>", self.leaderboard)

    async def of_site(self, incoming: Incoming) -> Response:
        statistics = await self._statistics.for_everybody()
        return Page("stats/global.html", SitePublic(title=_("Statistics"), **statistics))

    async def leaderboard(self, incoming: Incoming, window: int = 0) -> Response:
        """The first twenty, then the requester with the people around them, as many as ``window`` on each side."""
        rows = await self._accounts.leaderboard(incoming.who, TOP, min(window, MAX_WINDOW))
        public = LeaderboardPublic(title=_("Leaderboard"), top_users=[person(row) for row in rows])
        return Page("stats/leaderboard.html", public, LeaderboardPrivate(window=window))
