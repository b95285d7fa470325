"""The dashboard of the site."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from crowdd.domain.projects.statistics import Statistics
from crowdd.domain.server.administration import MAX_LISTED_PROJECTS, Administration
from crowdd.http.pages.admin.access import admins_only
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get
from crowdd.languages import _
from crowdd.values import Values

_WANTED = frozenset({"1", "true", "yes", "on"})


class Series(TypedDict):
    """A chart: a label for each value of each series."""

    labels: list[str]
    series: list[list[int]]


class DashboardPublic(Titled):
    """The keys of PyBossa; ``wait`` says whether new figures are being calculated."""

    update_feed: list[Values]
    active_users_last_week: Series
    active_anon_last_week: Series
    new_task_runs_week: Series
    new_users_week: Series
    new_tasks_week: Series
    returning_users_week: Series
    draft_projects_last_week: list[Values]
    published_projects_last_week: list[Values]
    update_projects_last_week: list[Values]
    wait: bool


class DashboardPrivate(TypedDict):
    """``totals`` are figures of the whole week by their names; ``minutes``: how old they are.

    Lists of projects end after ``max_listed``, so the number of those left out is not known then.
    """

    totals: dict[str, int]
    minutes: int
    max_listed: int


class AdminDashboard:
    """``/admin/dashboard/``."""

    def __init__(self, administration: Administration, statistics: Statistics) -> None:
        self._administration, self._statistics = administration, statistics

    def routes(self) -> Iterator[Route]:
        yield get("/admin/", admins_only(self.index))
        yield get("/admin/dashboard/", admins_only(self.dashboard))

    async def index(self, incoming: Incoming) -> Response:
        return Redirect("/admin/dashboard/")

    async def dashboard(self, incoming: Incoming) -> Response:
        """The figures of the last week. ``?refresh=1`` asks for current ones."""
        refresh = incoming.query.get("refresh", "").lower() in _WANTED
        figures = await self._administration.figures(incoming.who, refresh)
        feed = await self._statistics.update_feed()
        public = DashboardPublic(
            title=_("Dashboard"),
            update_feed=feed,
            active_users_last_week=figures["active_users_last_week"],
            active_anon_last_week=figures["active_anon_last_week"],
            new_task_runs_week=figures["new_task_runs_week"],
            new_users_week=figures["new_users_week"],
            new_tasks_week=figures["new_tasks_week"],
            returning_users_week=figures["returning_users_week"],
            draft_projects_last_week=figures["draft_projects_last_week"],
            published_projects_last_week=figures["published_projects_last_week"],
            update_projects_last_week=figures["update_projects_last_week"],
            wait=figures["wait"],
        )
        private = DashboardPrivate(
            totals=_totals(figures), minutes=int(figures["age"] // 60), max_listed=MAX_LISTED_PROJECTS
        )
        return Page("admin/dashboard.html", public, private)


def _totals(figures: Values) -> dict[str, int]:
    """Figures of the week. People are counted once, however many days they came."""
    sums = {"answers": "new_task_runs_week", "accounts": "new_users_week", "tasks": "new_tasks_week"}
    return {**figures["people"], **{name: sum(figures[key]["series"][0]) for name, key in sums.items()}}
