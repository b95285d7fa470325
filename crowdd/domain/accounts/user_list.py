"""Those who have an account, page by page."""

from __future__ import annotations

import attrs

from crowdd.domain.core.pagination import Pagination
from crowdd.domain.core.records import NOT_FOUND
from crowdd.errors import NotFoundError
from crowdd.storage.accounts import people
from crowdd.storage.accounts.rows import ScoredPerson
from crowdd.storage.database import Transactions

PER_PAGE = 24


@attrs.frozen
class UserPage:
    """A page of people: rows of accounts with score, and how many there are in all."""

    people: list[ScoredPerson]
    page: int
    total: int

    @property
    def pagination(self) -> Pagination:
        """The page among its neighbours (interface: account-page)."""
        return {
            "page": self.page,
            "per_page": PER_PAGE,
            "total": self.total,
            "prev": self.page > 1,
            "next": self.page * PER_PAGE < self.total,
        }


class UserList:
    """Lists people; blocked ones are left out."""

    def __init__(self, db: Transactions) -> None:
        self._db = db

    async def page(self, number: int) -> UserPage:
        """The newest first. Raises NotFoundError beyond the last page."""
        total = await people.total(self._db)
        if not 1 <= number <= max(1, -(-total // PER_PAGE)):
            raise NotFoundError(NOT_FOUND)
        rows = await people.page(self._db, PER_PAGE, (number - 1) * PER_PAGE)
        return UserPage(rows, number, total)
