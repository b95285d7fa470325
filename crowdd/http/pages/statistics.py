"""Figures of the site for people, and who has answered most."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.projects.serializers import person
from crowdd.domain.projects.statistics import Statistics
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response
from crowdd.http.routing import Route, get
from crowdd.languages import _

TOP = 20
MAX_WINDOW = 10


class StatisticsPages:
    """/stats and /leaderboard."""

    def __init__(self, statistics: Statistics, accounts: Accounts) -> None:
        self._statistics, self._accounts = statistics, accounts

    def routes(self) -> Iterator[Route]:
        yield get("/stats/", self.of_site)
        yield get("/leaderboard/", self.leaderboard)
        yield get("/leaderboard/window/<int:window>", self.leaderboard)

    async def of_site(self, incoming: Incoming) -> Response:
        found = await self._statistics.for_everybody()
        return Page("stats/global.html", title=_("Statistics"), **found)

    async def leaderboard(self, incoming: Incoming, window: int = 0) -> Response:
        """The first twenty; who asks stands at the end, with as many people around him as the window has."""
        rows = await self._accounts.leaderboard(incoming.who, TOP, min(window, MAX_WINDOW))
        return Page(
            "stats/leaderboard.html", title=_("Leaderboard"), top_users=[person(row) for row in rows], _window=window
        )
