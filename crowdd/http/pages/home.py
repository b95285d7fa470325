"""The home page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.projects.project_lists import FEATURED
from crowdd.domain.projects.projects import Projects
from crowdd.domain.projects.serializers import person, project_summary
from crowdd.domain.projects.statistics import Statistics
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get
from crowdd.kinds import CATEGORY
from crowdd.kinds.kind import outward
from crowdd.storage.database import Row

_TOP = 10


class Home:
    """``/``."""

    def __init__(self, projects: Projects, accounts: Accounts, statistics: Statistics) -> None:
        self._projects, self._accounts, self._statistics = projects, accounts, statistics

    def routes(self) -> Iterator[Route]:
        yield get("/", self.home)
        yield get("/project/", self.projects)

    async def home(self, incoming: Incoming) -> Response:
        """Projects by category, the liveliest first, and those who answer most (interface: page-home)."""
        rows = await self._projects.listed(incoming.who)
        categories = await self._projects.categories()
        summaries = [project_summary(row) for row in rows]
        by_category = {
            category["short_name"]: [s for s in summaries if s["category_id"] == category["id"]]
            for category in categories
        }
        featured = [summary for summary in summaries if summary["featured"]]
        return Page(
            "home/index.html",
            top_projects=summaries[:_TOP],
            featured=featured,
            categories_projects={"featured": featured, **by_category},
            categories=[FEATURED, *map(_category, categories)],
            top_users=[person(row) for row in await self._accounts.top(_TOP)],
            **await self._drawn(),
        )

    async def _drawn(self) -> dict[str, Any]:
        """What only the page for people shows: the site in three figures, its last day in strokes."""
        stats = await self._statistics.for_home()
        counts = {"_n_projects_per_category": stats["of_category"]}
        if not stats["n_answers"]:
            return counts
        figures = {"answers": stats["n_answers"], "people": stats["n_people"], "projects": stats["n_open"]}
        return {**counts, "_figures": figures, "_pulse": stats["last_day"] if any(stats["last_day"]) else []}

    async def projects(self, incoming: Incoming) -> Response:
        """The list of projects is on the first page."""
        return Redirect("/")


def _category(row: Row) -> dict[str, Any]:
    return {field.name: outward(row[field.name]) for field in CATEGORY.fields}
