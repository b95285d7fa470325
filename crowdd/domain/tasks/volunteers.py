"""Volunteers of a project, as those who run it see them."""

from __future__ import annotations

import attrs

from crowdd.domain.core.records import NOT_FOUND
from crowdd.domain.tasks.changes import Changes
from crowdd.errors import NotFoundError
from crowdd.requester import Requester
from crowdd.storage.database import Database
from crowdd.storage.tasks import volunteers
from crowdd.storage.tasks.rows import VolunteerRow

PER_PAGE = 50
MAX_PASSED = 10_000  # volunteers that a page may pass over


@attrs.frozen
class Volunteer:
    """Who has answered: ``sort`` is account, external or anonymous; ``volunteer`` the code of their answers."""

    volunteer: str
    sort: str
    user_id: int | None
    user_name: str | None
    external_uid: str | None
    answers: int
    barred: bool

    @classmethod
    def of(cls, row: VolunteerRow) -> Volunteer:
        """The volunteer of a row."""
        sort, _colon, name = row["actor"].partition(":")
        words = {"u": "account", "x": "external"}.get(sort, "anonymous")
        return cls(
            volunteer=row["volunteer"],
            sort=words,
            user_id=row["user_id"],
            user_name=row["user_name"],
            external_uid=name if sort == "x" else None,
            answers=row["answers"],
            barred=row["barred"],
        )


class Volunteers:
    """Lists them, and finds one by the word of their answers."""

    def __init__(self, db: Database, changes: Changes) -> None:
        self._db, self._changes = db, changes

    async def listed(
        self,
        who: Requester,
        project_id: int,
        limit: int,
        offset: int,
        known: bool | None = None,
        descending: bool = True,
    ) -> list[Volunteer]:
        """By their answers, the most first; ``known``: only those with an account, or only those without.

        Raises NotFoundError, AnonymousError or ForbiddenError.
        """
        await self._changes.require(self._db, who, project_id)
        found = await volunteers.listed(self._db, project_id, limit, offset, known, descending)
        return [Volunteer.of(row) for row in found]

    async def count(self, project_id: int, known: bool | None = None) -> int:
        """How many there are."""
        with_account, without = await volunteers.count(self._db, project_id)
        return {None: with_account + without, True: with_account, False: without}[known]

    async def find(self, who: Requester, project_id: int, word: str) -> Volunteer:
        """The one whom a word names. Raises NotFoundError, AnonymousError or ForbiddenError."""
        await self._changes.require(self._db, who, project_id)
        row = await volunteers.find(self._db, project_id, word)
        if row is None:
            raise NotFoundError(NOT_FOUND)
        return Volunteer.of(row)
