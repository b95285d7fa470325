"""Reviewers: people whom the owners of a project let see answers and decide tasks, and nothing else."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from crowdd.domain.accounts.accounts import Accounts
from crowdd.errors import ForbiddenError
from crowdd.languages import _
from crowdd.requester import Requester
from crowdd.storage.core import audit
from crowdd.storage.database import Database, Transactions
from crowdd.storage.tasks.review import reviewers
from crowdd.storage.tasks.review.rows import Reviewer

MAX_REVIEWERS: Final = 100


class Reviewers:
    """For owners. Every change is written down. The caller has checked that they own the project."""

    def __init__(self, db: Transactions, accounts: Accounts) -> None:
        self._db, self._accounts = db, accounts

    async def listed(self, project_id: int) -> list[Reviewer]:
        """Who may decide tasks beside the owners."""
        return await reviewers.listed(self._db, project_id)

    async def add(self, project_id: int, owners: Collection[int], name: str, who: Requester) -> bool:
        """Makes somebody a reviewer; False when they are one, or an owner. NotFoundError for an unknown name."""
        person = await self._accounts.find_by_name(name)
        if person["id"] in owners:
            return False

        async def work(tx: Database) -> bool:
            state = await reviewers.add(tx, project_id, person["id"], MAX_REVIEWERS)
            if state == "full":
                raise ForbiddenError(_("A project has at most %(maximum)s reviewers.", maximum=MAX_REVIEWERS))
            if state == "added":
                await _note(tx, who, "add_reviewer", project_id, after=person["name"])
            return state == "added"

        return await self._db.transaction(work)

    async def remove(self, project_id: int, name: str, who: Requester) -> bool:
        """Takes the right of a reviewer; False when there is none. What they decided stays."""
        person = await self._accounts.find_by_name(name)

        async def work(tx: Database) -> bool:
            done = await reviewers.remove(tx, project_id, person["id"])
            if done:
                await _note(tx, who, "remove_reviewer", project_id, before=person["name"])
            return done

        return await self._db.transaction(work)


async def _note(
    tx: Database, who: Requester, action: str, project_id: int, before: object = None, after: object = None
) -> None:
    await audit.write(tx, who, action, "project", project_id, project_id=project_id, before=before, after=after)
