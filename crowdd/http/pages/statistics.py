"""Figures for people: of a project, of the site, and who has answered most."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from crowdd.domain.domain import Domain
from crowdd.domain.summaries import person
from crowdd.http.answers import Answer, Page
from crowdd.http.incoming import Incoming
from crowdd.http.pages.projects import ProjectViews, locked_out
from crowdd.http.routing import Route, get
from crowdd.languages import _

TOP = 20
MOST_WINDOW = 10


class StatisticsPages:
    """/project/<short_name>/stats, /stats and /leaderboard."""

    def __init__(self, domain: Domain, views: ProjectViews) -> None:
        self._domain, self._views = domain, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/stats", locked_out(self.of_project))
        yield get("/stats/", self.of_site)
        yield get("/leaderboard/", self.leaderboard)
        yield get("/leaderboard/window/<int:window>", self.leaderboard)

    async def of_project(self, incoming: Incoming, short_name: str) -> Answer:
        row = await self._domain.projects.page(short_name, incoming.who)
        context = await self._views.context(incoming, row)
        context["pro_features"]["better_stats_enabled"] = True
        found = await self._domain.statistics.of_project(row["id"])
        return Page("project/stats.html", **context, **found, **_charts(found))

    async def of_site(self, incoming: Incoming) -> Answer:
        found = await self._domain.statistics.for_everybody()
        return Page("stats/global.html", title=_("Statistics"), **found)

    async def leaderboard(self, incoming: Incoming, window: int = 0) -> Answer:
        """The first twenty; who asks stands at the end, with as many people around him as the window has."""
        rows = await self._domain.accounts.leaderboard(incoming.who, TOP, min(window, MOST_WINDOW))
        return Page(
            "stats/leaderboard.html", title=_("Leaderboard"), top_users=[person(row) for row in rows], _window=window
        )


def _charts(found: dict[str, Any]) -> dict[str, Any]:
    """The bars of a page: pairs of a day, or an hour, and a figure."""
    if "projectStats" not in found:
        return {}
    days, hours = found["projectStats"]["dayStats"][0], found["projectStats"]["hourStats"][0]
    dated = [(datetime.fromtimestamp(first / 1000, UTC), count) for first, count in days["values"]]
    return {"_days": dated, "_hours": [value[:2] for value in hours["values"]]}
