"""Reviewers: people whom the owners of a project let see answers and decide tasks, and nothing else."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.accounts.authentication import recent_proof
from crowdd.domain.projects.project_invitations import ProjectInvitations
from crowdd.errors import ForbiddenError
from crowdd.languages import _
from crowdd.requester import Requester
from crowdd.storage.core import audit
from crowdd.storage.database import Database, Transactions
from crowdd.storage.projects.owner_rows import Invitation
from crowdd.storage.tasks.review import reviewers
from crowdd.storage.tasks.review.rows import Reviewer

MAX_REVIEWERS: Final = 100
ROLE: Final = "reviewer"


class Reviewers:
    """For owners. Every change is written down. The caller has checked that they own the project.

    Changes need a session with a recent proof (``recent_proof.require_to_manage``).
    """

    def __init__(self, db: Transactions, accounts: Accounts, invitations: ProjectInvitations) -> None:
        self._db, self._accounts, self._invitations = db, accounts, invitations

    async def listed(self, project_id: int) -> list[Reviewer]:
        """Who may decide tasks beside the owners."""
        return await reviewers.listed(self._db, project_id)

    async def add(self, project_id: int, owners: Collection[int], name: str, who: Requester) -> bool:
        """Makes somebody a reviewer; False when they are one, or an owner. NotFoundError for an unknown name."""
        recent_proof.require_to_manage(who)
        person = await self._accounts.find_by_name(name)
        if person["id"] in owners:
            return False

        async def work(tx: Database) -> bool:
            return await _add(tx, who, project_id, person["id"], person["name"])

        return await self._db.transaction(work)

    async def invite(self, project_id: int, who: Requester) -> str:
        """The key of a link that makes one person a reviewer; the one before ends."""
        recent_proof.require_to_manage(who)
        return await self._invitations.invite(project_id, ROLE, who)

    async def withdraw(self, project_id: int, who: Requester) -> None:
        """Ends the open invitation."""
        recent_proof.require_to_manage(who)
        await self._invitations.withdraw(self._db, project_id, ROLE)

    async def invitation(self, project_id: int) -> Invitation | None:
        """created and expires of the open invitation."""
        return await self._invitations.open(project_id, ROLE)

    async def accept(self, key: str, short_name: str, who: Requester) -> bool:
        """Makes the requester a reviewer; False when they are one. Raises AnonymousError, ForbiddenError."""
        user_id = await self._invitations.accepting(key, short_name, ROLE, who)

        async def work(tx: Database) -> bool:
            project_id = await self._invitations.use(tx, key, ROLE)
            return await _add(tx, who, project_id, user_id, who.user_name)

        return await self._db.transaction(work)

    async def remove(self, project_id: int, name: str, who: Requester) -> bool:
        """Takes the right of a reviewer; False when there is none. What they decided stays."""
        recent_proof.require_to_manage(who)
        person = await self._accounts.find_by_name(name)

        async def work(tx: Database) -> bool:
            done = await reviewers.remove(tx, project_id, person["id"])
            if done:
                await _note(tx, who, "remove_reviewer", project_id, before=person["name"])
            return done

        return await self._db.transaction(work)


async def _add(tx: Database, who: Requester, project_id: int, user_id: int, name: str) -> bool:
    state = await reviewers.add(tx, project_id, user_id, MAX_REVIEWERS)
    if state == "full":
        raise ForbiddenError(_("A project has at most %(maximum)s reviewers.", maximum=MAX_REVIEWERS))
    if state == "added":
        await _note(tx, who, "add_reviewer", project_id, after=name)
    return state == "added"


async def _note(
    tx: Database, who: Requester, action: str, project_id: int, before: object = None, after: object = None
) -> None:
    await audit.write(tx, who, action, "project", project_id, project_id=project_id, before=before, after=after)
