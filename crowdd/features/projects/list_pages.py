"""Lists of projects: by category, and the search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypedDict
from urllib.parse import urlencode

from crowdd.core.text.words import Pagination
from crowdd.features.projects.project_lists import FEATURED, ProjectLists, Wanted
from crowdd.features.projects.serializers import project_summary
from crowdd.http.queries import parse_flag, parse_number
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
_MAX_TAG, _MAX_MINUTES = 35, 1000


class CategoryPublic(Titled):
    projects: list[Values]
    categories: list[Values]
    active_cat: Values
    pagination: Pagination


class CategoryPrivate(TypedDict):
    """``narrows``: the filters leave out projects. ``kept``: filters and order as the query of an address."""

    orderby: str
    desc: bool
    language: str
    medium: str
    minutes: int
    phone: bool
    narrows: bool
    kept: str


def _wanted(incoming: Incoming) -> Wanted:
    query = incoming.query
    return Wanted(
        order=query.get("orderby", ""),
        descending=parse_flag(query.get("desc", ""), "desc"),
        language=query.get("language", "")[:_MAX_TAG],
        medium=query.get("medium", ""),
        minutes=parse_number(query.get("minutes", ""), "minutes", 0, _MAX_MINUTES),
        phone=parse_flag(query.get("phone", ""), "phone"),
    )


def _private(wanted: Wanted) -> CategoryPrivate:
    values = {
        "orderby": wanted.order,
        "desc": "true" if wanted.descending else "",
        "language": wanted.language,
        "medium": wanted.medium,
        "minutes": str(wanted.minutes or ""),
        "phone": "true" if wanted.phone else "",
    }
    return CategoryPrivate(
        orderby=wanted.order,
        desc=wanted.descending,
        language=wanted.language,
        medium=wanted.medium,
        minutes=wanted.minutes,
        phone=wanted.phone,
        narrows=wanted.narrows,
        kept=urlencode({name: value for name, value in values.items() if value}),
    )


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

        ``orderby`` is a key of the summaries, ``desc`` reverses the order. ``language``, ``medium``, ``minutes`` and
        ``phone`` leave out other projects.
        """
        wanted = _wanted(incoming)
        chosen, known, projects = await self._project_lists.category(category, incoming.who, page, wanted)
        public = CategoryPublic(
            title=str(chosen["name"]),
            projects=[project_summary(row) for row in projects.rows],
            categories=[FEATURED, *map(_outward, known)],
            active_cat=_outward(chosen),
            pagination=projects.pagination(),
        )
        return Page("project/category.html", public, _private(wanted))

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
