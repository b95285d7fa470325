"""Lists of projects: by category, and the search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypedDict

from crowdd.core.text.words import Pagination
from crowdd.features.projects.project_lists import FEATURED, ProjectLists
from crowdd.features.projects.serializers import project_summary
from crowdd.http.queries import parse_flag
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response, Titled
from crowdd.http.routing import Route, Shared, get
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.category import CATEGORY
from crowdd.kinds.kind import outward
from crowdd.kinds.types import Integer, clean_text

_AT = "/project/category/<category>"
_LIVELY = 9


class CategoryPublic(Titled):
    projects: list[Values]
    categories: list[Values]
    active_cat: Values
    pagination: Pagination


class CategoryPrivate(TypedDict):
    orderby: str
    desc: bool


class SearchPublic(Titled):
    query: str
    projects: list[Values]
    categories: list[Values]
    pagination: Pagination


class SearchPrivate(TypedDict):
    """Before a search, ``lively`` are the most active projects, and ``n_projects`` is how many there are."""

    lively: list[Values]
    n_projects: int


class ProjectListPages:
    """``/project/category/…``, ``/project/page/<n>`` and ``/project/search``."""

    def __init__(self, project_lists: ProjectLists) -> None:
        self._project_lists = project_lists

    def routes(self) -> Iterator[Route]:
        yield get(f"{_AT}/", self.category, hot=True, shared=Shared.VISITORS)
        yield get(f"{_AT}/page/<int:page>/", self.category)
        yield get("/project/page/<int:page>", self.everything)
        yield get("/project/search", self.search)

    async def everything(self, incoming: Incoming, page: int) -> Response:
        """All published projects."""
        return await self.category(incoming, "all", page)

    async def category(self, incoming: Incoming, category: str, page: int = 1) -> Response:
        """A page of a category, or of ``featured``, ``all``, ``draft``, ``historical_contributions``.

        ``orderby`` is a key of the summaries, ``desc`` reverses the order.
        """
        order, descending = incoming.query.get("orderby", ""), parse_flag(incoming.query.get("desc", ""), "desc")
        chosen, known, projects = await self._project_lists.category(category, incoming.who, page, order, descending)
        public = CategoryPublic(
            title=str(chosen["name"]),
            projects=[project_summary(row) for row in projects.rows],
            categories=[FEATURED, *map(_outward, known)],
            active_cat=_outward(chosen),
            pagination=projects.pagination(),
        )
        return Page("project/category.html", public, CategoryPrivate(orderby=order, desc=descending))

    async def search(self, incoming: Incoming) -> Response:
        """Projects with the words of ``q``. ``page`` is the number of the page."""
        text, page = clean_text(incoming.query.get("q", "")).strip(), incoming.query.get("page", "1")
        projects = await self._project_lists.search(text, Integer().parse(page))
        public = SearchPublic(
            title=_("Search"),
            query=text,
            projects=[project_summary(row) for row in projects.rows],
            categories=[_outward(row) for row in await self._project_lists.categories()],
            pagination=projects.pagination(),
        )
        shown = None if text or incoming.wants_json else await self._project_lists.liveliest(_LIVELY)
        private = SearchPrivate(
            lively=[project_summary(row) for row in shown.rows] if shown else [],
            n_projects=shown.total if shown else 0,
        )
        return Page("project/search.html", public, private)


def _outward(row: Mapping[str, object]) -> Values:
    shown = {field.name: outward(row[field.name]) for field in CATEGORY.fields if field.name in row}
    return {"info": {}, **shown}
