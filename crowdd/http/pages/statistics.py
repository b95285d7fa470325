"""Statistics of the site, and the leaderboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.projects.serializers import person
from crowdd.domain.projects.statistics import Statistics, StatisticsOfSite
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response, Titled
from crowdd.http.routing import Route, Shared, get
from crowdd.languages import _
from crowdd.values import Values

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
