"""Lists of projects: categories, the lists that are no category (featured, drafts), and the search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from crowdd.domain.core import rights
from crowdd.domain.core.pagination import Pagination
from crowdd.domain.core.text.slips import slips
from crowdd.errors import NOT_FOUND, AnonymousError, NotFoundError, UnknownFieldError
from crowdd.kinds.roles import ADMINS
from crowdd.languages import _
from crowdd.requester import Requester
from crowdd.storage.database import Transactions
from crowdd.storage.projects import project_lists, projects
from crowdd.storage.projects.list_rows import CategoryRow, ListedProject
from crowdd.storage.projects.project_lists import ProjectFilter

PER_PAGE: Final = 20
MAX_WORDS, MAX_CHARACTERS = 8, 200


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


class ProjectLists:
    """Lists of projects that everybody may see; ``draft`` is for administrators alone."""

    def __init__(self, db: Transactions) -> None:
        self._db = db

    async def categories(self) -> list[CategoryRow]:
        """All categories by name."""
        return await projects.categories(self._db)

    async def category(
        self, name: str, who: Requester, page: int, order: str, descending: bool
    ) -> tuple[Mapping[str, object], list[CategoryRow], ProjectListPage]:
        """The category of that short name, all categories, and a page of its projects.

        Raises NotFoundError for an unknown category and for a page behind the last, UnknownFieldError for an unknown
        order, AnonymousError and ForbiddenError for lists that are not for everybody.
        """
        known = await self.categories()
        chosen, project_filter = _filter_of(name, known, who)
        list_page = await self._list(project_filter, page, order, descending)
        return chosen, known, list_page

    async def _list(self, project_filter: ProjectFilter, page: int, order: str, descending: bool) -> ProjectListPage:
        if order and order not in project_lists.ORDERS:
            raise UnknownFieldError(f"type object 'project' has no attribute '{order[:100]}'")
        rows, total = await project_lists.list_page(
            self._db, project_filter, order or None, descending, PER_PAGE, _offset(page)
        )
        return _page(rows, total, page)

    async def search(self, text: str, page: int) -> ProjectListPage:
        """Projects whose name or sentence holds all the words; misspelt ones come behind.

        If there are none, projects count that have words with which one slip of the keys makes the words (``slips``).
        """
        text = text[:MAX_CHARACTERS].strip()
        if not text:
            return ProjectListPage([], 0, 1)
        words, at = text.split()[:MAX_WORDS], _offset(page)
        rows, total = await project_lists.search(self._db, text, dict.fromkeys(words, ""), PER_PAGE, at)
        other = {word: slips(word) for word in words}
        if not total and any(other.values()):
            rows, total = await project_lists.search(self._db, text, other, PER_PAGE, at)
        return _page(rows, total, page)

    async def liveliest(self, maximum: int) -> ProjectListPage:
        """The most active projects."""
        return _page(*await project_lists.list_page(self._db, ProjectFilter(), None, False, maximum, 0), 1)


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
