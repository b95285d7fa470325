"""Those who have an account, page by page."""

from __future__ import annotations

import attrs

from crowdd.errors import NOT_FOUND, NotFoundError
from crowdd.languages import _
from crowdd.storage.accounts import people
from crowdd.storage.accounts.rows import ScoredPerson
from crowdd.storage.core.keyset import Keyset, KeysetPage
from crowdd.storage.database import Transactions

MAX_PASSED = 10_000  # accounts that a page by its number may pass over


@attrs.frozen
class UserPage:
    """A page of people: the place at which it begins, rows of accounts with score, and how many people there are."""

    place: Keyset
    part: KeysetPage[ScoredPerson]
    total: int


class UserList:
    """Lists people; blocked ones are left out."""

    def __init__(self, db: Transactions) -> None:
        self._db = db

    async def page(self, place: Keyset) -> UserPage:
        """A page of people in the order of their ids, the newest first unless the place says otherwise."""
        return UserPage(place, await people.page(self._db, place), await people.total(self._db))

    async def numbered(self, number: int, size: int) -> UserPage:
        """A page by its number, the newest first. Raises NotFoundError beyond the last page and beyond MAX_PASSED."""
        passed = (number - 1) * size
        if passed > MAX_PASSED:
            raise NotFoundError(
                NOT_FOUND,
                hint=_("This page is too far back for its number. Use `before` with the id of an account."),
            )
        last = await people.nth_newest(self._db, passed) if passed > 0 else None
        user_page = await self.page(Keyset(size, before=last))
        if number < 1 or (passed and (last is None or not user_page.part.rows)):
            raise NotFoundError(NOT_FOUND)
        return user_page
