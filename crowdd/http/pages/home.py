"""The first page, and what a browser prefers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crowdd.domain.projects.project_lists import FEATURED
from crowdd.domain.projects.serializers import person, project_summary
from crowdd.domain.server.services import Services
from crowdd.http.auth.cookies import YEAR, Cookies
from crowdd.http.html.forms import local
from crowdd.http.html.locales import COOKIE
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds import CATEGORY, USER
from crowdd.kinds.kind import outward
from crowdd.values import Requester

_TOP = 10


class HomePages:
    """``/`` and ``/preferences``."""

    def __init__(self, services: Services, cookies: Cookies) -> None:
        self._services, self._cookies = services, cookies

    def routes(self) -> Iterator[Route]:
        yield get("/", self.home)
        yield get("/project/", self.projects)
        yield post("/preferences", self.preferences)

    async def home(self, incoming: Incoming) -> Response:
        """Projects by category, the liveliest first, and those who answer most (interface: page-home)."""
        rows = await self._services.projects.listed(incoming.who)
        categories = await self._services.projects.categories()
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
            top_users=[person(row) for row in await self._services.accounts.top(_TOP)],
            **await self._drawn(),
        )

    async def _drawn(self) -> dict[str, Any]:
        """What only the page for people shows: the site in three figures, its last day in strokes."""
        stats = await self._services.statistics.for_home()
        counts = {"_n_projects_per_category": stats["of_category"]}
        if not stats["n_answers"]:
            return counts
        figures = {"answers": stats["n_answers"], "people": stats["n_people"], "projects": stats["n_open"]}
        return {**counts, "_figures": figures, "_pulse": stats["last_day"] if any(stats["last_day"]) else []}

    async def projects(self, incoming: Incoming) -> Response:
        """The list of projects is on the first page."""
        return Redirect("/")

    async def preferences(self, incoming: Incoming) -> Response:
        """Theme and language of this browser; the language of the account, too, for it comes first."""
        theme, locale = incoming.field("theme"), incoming.field("locale")
        if "theme" in incoming.form:
            chosen = theme if theme in ("light", "dark") else ""
            self._cookies.set(incoming, "theme", chosen, seconds=YEAR if chosen else 0)
        if locale in self._services.languages.names:
            self._cookies.set(incoming, COOKIE, locale, seconds=YEAR)
            await self._keep(incoming.who, locale)
        return Redirect(local(incoming.field("next")))

    async def _keep(self, who: Requester, locale: str) -> None:
        if who.acting_user is not None and who.locale != locale:
            await self._services.records.change(USER, who, who.acting_user, {"locale": locale})


def _category(row: Mapping[str, Any]) -> dict[str, Any]:
    return {field.name: outward(row[field.name]) for field in CATEGORY.fields}
