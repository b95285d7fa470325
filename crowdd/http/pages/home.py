"""The home page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NotRequired, TypedDict

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.core.site import Site, WrittenText
from crowdd.domain.core.text.rendered_text import Laid
from crowdd.domain.projects.project_lists import FEATURED
from crowdd.domain.projects.projects import Projects
from crowdd.domain.projects.serializers import person, project_summary
from crowdd.domain.projects.statistics import Statistics
from crowdd.http.html.locales import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, Shared, get
from crowdd.kinds.category import CATEGORY
from crowdd.kinds.kind import outward
from crowdd.storage.core.rows import FirstSteps
from crowdd.values import Values

_TOP = 10


class HomePublic(TypedDict):
    """``categories_projects`` has the projects by the short name of their category, and the featured ones."""

    top_projects: list[Values]
    featured: list[Values]
    categories_projects: dict[str, list[Values]]
    categories: list[Values]
    top_users: list[Values]


class HomePrivate(TypedDict):
    """``figures`` and ``pulse`` (answers in each of the last 72 hours) are there once the site has answers.

    ``headline`` and ``intro`` are those that administrators wrote, ``prose`` has the latter as HTML. ``steps`` are the
    first steps of an administrator, for those who see them.
    """

    headline: WrittenText | None
    intro: WrittenText | None
    prose: Laid
    steps: FirstSteps | None
    n_projects_per_category: dict[str, int]
    figures: NotRequired[dict[str, int]]
    pulse: NotRequired[list[int]]


class HomePages:
    """``/``."""

    def __init__(self, projects: Projects, accounts: Accounts, statistics: Statistics, site: Site) -> None:
        self._projects, self._accounts, self._statistics, self._site = projects, accounts, statistics, site

    def routes(self) -> Iterator[Route]:
        yield get("/", self.home, hot=True, shared=Shared.VISITORS)
        yield get("/project/", self.projects)

    async def home(self, incoming: Incoming) -> Response:
        """Projects by category, the most active first, and the people with the most answers (interface: page-home)."""
        rows = await self._projects.listed()
        categories = await self._projects.categories()
        summaries = [project_summary(row) for row in rows]
        by_category = {
            category["short_name"]: [s for s in summaries if s["category_id"] == category["id"]]
            for category in categories
        }
        featured = [summary for summary in summaries if summary["featured"]]
        public = HomePublic(
            top_projects=summaries[:_TOP],
            featured=featured,
            categories_projects={"featured": featured, **by_category},
            categories=[FEATURED, *map(_category, categories)],
            top_users=[person(row) for row in await self._accounts.top(_TOP)],
        )
        return Page("home/index.html", public, None if incoming.wants_json else await self._private(incoming))

    async def _private(self, incoming: Incoming) -> HomePrivate:
        """The figures that only the HTML page shows."""
        stats = await self._statistics.for_home()
        site, locale = self._site, locale_of(incoming)
        private = HomePrivate(
            n_projects_per_category=stats["of_category"],
            headline=site.text("headline", locale),
            intro=site.text("intro", locale),
            prose=site.state.prose,
            steps=await site.first_steps(incoming.who),
        )
        if stats["n_answers"]:
            figures = {"answers": stats["n_answers"], "people": stats["n_people"], "projects": stats["n_open"]}
            private["figures"] = figures
            private["pulse"] = stats["hours"] if any(stats["hours"]) else []
        return private

    async def projects(self, incoming: Incoming) -> Response:
        """The list of projects is on the first page."""
        return Redirect("/")


def _category(row: Mapping[str, object]) -> Values:
    return {field.name: outward(row[field.name]) for field in CATEGORY.fields}
