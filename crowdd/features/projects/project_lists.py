"""Lists of projects: categories, lists that are no category (featured, drafts), the search, and the command palette."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from crowdd.core.records import rights
from crowdd.core.text.words import Pagination, slip_pattern
from crowdd.database.access import Database, Transactions
from crowdd.features.projects import list_statements, statements
from crowdd.features.projects.list_statements import MEDIA, ProjectFilter
from crowdd.features.projects.rows import (
    CategoryRow,
    CountedCategory,
    ListedProject,
    NumberedTask,
    OwnProject,
    ProjectName,
)
from crowdd.kernel.errors import NOT_FOUND, AnonymousError, InvalidValueError, NotFoundError, UnknownFieldError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kinds.roles import ADMINS

PER_PAGE: Final = 20
MAX_SEARCH_WORDS, MAX_SEARCH_CHARACTERS = 8, 200


def _special(name: str, short_name: str, description: str) -> dict[str, object]:
    return {"id": None, "name": name, "short_name": short_name, "description": description, "created": None}


FEATURED: Final = _special("Featured", "featured", "Projects recommended by this site")
EVERYTHING: Final = _special("All projects", "all", "")
DRAFTS: Final = _special("Drafts", "draft", "Not published, or paused")
CONTRIBUTED: Final = _special("Yours", "historical_contributions", "Projects in which you answered")


@attrs.frozen
class ProjectListPage:
    """A page of projects: summaries, and how many there are on all pages."""

    rows: list[ListedProject]
    total: int
    page: int

    def pagination(self) -> Pagination:
        """As front ends read it."""
        more = self.page * PER_PAGE < self.total
        return {"page": self.page, "per_page": PER_PAGE, "total": self.total, "prev": self.page > 1, "next": more}


@attrs.frozen
class Wanted:
    """What somebody looks for in a list, and its order: a key of ``ORDERS``, or "" for the most active first.

    ``language`` is a tag, ``medium`` a key of ``MEDIA``; "" for any. ``minutes``: most answers take so long at most.
    ``phone``: without drawing.
    """

    order: str = ""
    descending: bool = False
    language: str = ""
    medium: str = ""
    minutes: int = 0
    phone: bool = False

    def __attrs_post_init__(self) -> None:
        if self.medium and self.medium not in MEDIA:
            choices = ", ".join(MEDIA)
            raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="medium", choices=choices))

    @property
    def narrows(self) -> bool:
        """Whether it leaves out projects."""
        return bool(self.language or self.medium or self.minutes or self.phone)


class ProjectLists:
    """Lists of projects that everybody may see; ``draft`` is for administrators alone."""

    def __init__(self, db: Transactions) -> None:
        self._db = db

    async def categories(self) -> list[CategoryRow]:
        """All categories by name."""
        return await statements.list_categories(self._db)

    async def counted_categories(self) -> list[CountedCategory]:
        """The same, each with the number of its published projects."""
        return await list_statements.list_counted_categories(self._db)

    async def category(
        self, name: str, who: Requester, page: int, wanted: Wanted
    ) -> tuple[Mapping[str, object], list[CategoryRow], ProjectListPage]:
        """The category of that short name, all categories, and a page of its projects.

        Raises NotFoundError for an unknown category and for a page behind the last, UnknownFieldError for an unknown
        order, AnonymousError and ForbiddenError for lists that are not for everybody.
        """
        known = await self.categories()
        chosen, project_filter = _filter_of(name, known, who)
        narrowed = attrs.evolve(
            project_filter,
            language=wanted.language,
            medium=wanted.medium,
            seconds=60.0 * wanted.minutes,
            phone=wanted.phone,
        )
        list_page = await self._list(narrowed, page, wanted.order, wanted.descending)
        return chosen, known, list_page

    async def _list(self, project_filter: ProjectFilter, page: int, order: str, descending: bool) -> ProjectListPage:
        if order and order not in list_statements.ORDERS:
            raise UnknownFieldError(f"type object 'project' has no attribute '{order[:100]}'")
        rows, total = await list_statements.list_page(
            self._db, project_filter, order or None, descending, PER_PAGE, _offset(page)
        )
        return _page(rows, total, page)

    async def search(self, text: str, page: int) -> ProjectListPage:
        """Projects whose name or sentence holds all the words; misspelt ones come behind.

        If there are none, projects count whose words become the words by one slip of the keys (``slip_pattern``).
        """
        text = text[:MAX_SEARCH_CHARACTERS].strip()
        if not text:
            return ProjectListPage([], 0, 1)
        words, at = text.split()[:MAX_SEARCH_WORDS], _offset(page)
        rows, total = await list_statements.search_projects(self._db, text, dict.fromkeys(words, ""), PER_PAGE, at)
        other = {word: slip_pattern(word) for word in words}
        if not total and any(other.values()):
            rows, total = await list_statements.search_projects(self._db, text, other, PER_PAGE, at)
        return _page(rows, total, page)

    async def liveliest(self, maximum: int) -> ProjectListPage:
        """The most active projects."""
        return _page(*await list_statements.list_page(self._db, ProjectFilter(), None, False, maximum, 0), 1)


def _filter_of(name: str, known: list[CategoryRow], who: Requester) -> tuple[Mapping[str, object], ProjectFilter]:
    if name == "featured":
        return FEATURED, ProjectFilter(featured=True)
    if name == "all":
        return EVERYTHING, ProjectFilter()
    if name == "draft":
        rights.require(who, rights.of_requester(who), ADMINS)
        return DRAFTS, ProjectFilter(drafts=True)
    if name == "historical_contributions":
        if who.acting_user is None:
            raise AnonymousError(_("Sign in first."))
        return CONTRIBUTED, ProjectFilter(actor=f"u:{who.acting_user}")
    category = next((row for row in known if row["short_name"] == name), None)
    if category is None:
        raise NotFoundError(NOT_FOUND)
    return category, ProjectFilter(category_id=category["id"])


def _offset(page: int) -> int:
    if not 1 <= page <= 1_000_000:
        raise NotFoundError(NOT_FOUND)
    return (page - 1) * PER_PAGE


def _page(rows: list[ListedProject], total: int, page: int) -> ProjectListPage:
    if page > 1 and not rows:
        raise NotFoundError(NOT_FOUND)
    return ProjectListPage(rows, total, page)


MAX_PROJECTS: Final = 50
MAX_RECENT, MAX_PALETTE_WORDS, MAX_PALETTE_CHARACTERS = 8, 8, 200
_NUMBER: Final = re.compile(r"(?:.*[\s#])?([0-9]{1,18})")
"""A number at the end of what was typed: ``1234``, ``#1234``, ``task 1234``."""


@attrs.frozen
class Matches:
    """What was found; ``project`` is the one that the person looks at, if they may change it."""

    project: ProjectName | None
    projects: list[OwnProject]
    task: NumberedTask | None


class Palette:
    """Finds what a person can go to."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def find(self, who: Requester, text: str, here: str, recent: Sequence[str]) -> Matches:
        """Own projects with all words of ``text``, and the task whose number ends it.

        ``here`` is the short name of the project that the person looks at, or "". Projects of ``recent`` come first.
        Raises AnonymousError if nobody is signed in.
        """
        if who.acting_user is None:
            raise AnonymousError(_("Sign in first."))
        text = text[:MAX_PALETTE_CHARACTERS]
        number = _NUMBER.fullmatch(text.strip())
        words = text.split()[:MAX_PALETTE_WORDS]
        return Matches(
            await list_statements.find_editable_project(self._db, who, here) if here else None,
            await list_statements.find_own_projects(self._db, who, words, recent[:MAX_RECENT], MAX_PROJECTS),
            await list_statements.find_editable_task(self._db, who, int(number[1])) if number else None,
        )
