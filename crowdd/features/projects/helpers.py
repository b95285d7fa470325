"""People who do something for a project beside answering: reviewers see answers and decide tasks, translators write its
texts in other languages. They can change nothing else.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal

import attrs

from crowdd.core import log_statements, recent_proof
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.projects import helper_statements
from crowdd.features.projects.ownership import ProjectInvitations
from crowdd.features.projects.rows import Helper, Invitation
from crowdd.kernel.errors import ForbiddenError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester

MAX_HELPERS: Final = 100
HelperRole = Literal["reviewer", "translator"]


@attrs.frozen
class Helpers:
    """Those of one role, for owners. Every change is written down. The caller has checked that they own the project.

    Changes need a session with a recent proof (``recent_proof.require_to_manage``).
    """

    _db: Transactions
    _accounts: Accounts
    _invitations: ProjectInvitations
    role: HelperRole

    async def listed(self, project_id: int) -> list[Helper]:
        """Who they are, in the order in which they were added."""
        return await helper_statements.list_helpers(self._db, self.role, project_id)

    async def add(self, project_id: int, owners: Collection[int], name: str, who: Requester) -> bool:
        """Gives somebody the role; False when they have it, or are an owner. NotFoundError for an unknown name."""
        recent_proof.require_to_manage(who)
        person = await self._accounts.find_by_name(name)
        if person["id"] in owners:
            return False

        async def work(tx: Database) -> bool:
            return await self._add(tx, who, project_id, person["id"], person["name"])

        return await self._db.transaction(work)

    async def invite(self, project_id: int, who: Requester) -> str:
        """The key of a link that gives one person the role; the one before ends."""
        recent_proof.require_to_manage(who)
        return await self._invitations.invite(project_id, self.role, who)

    async def withdraw(self, project_id: int, who: Requester) -> None:
        """Ends the open invitation."""
        recent_proof.require_to_manage(who)
        await self._invitations.withdraw(self._db, project_id, self.role)

    async def invitation(self, project_id: int) -> Invitation | None:
        """created and expires of the open invitation."""
        return await self._invitations.open(project_id, self.role)

    async def accept(self, key: str, short_name: str, who: Requester) -> bool:
        """Gives the requester the role; False when they have it. Raises AnonymousError, ForbiddenError."""
        user_id = await self._invitations.accepting(key, short_name, self.role, who)

        async def work(tx: Database) -> bool:
            project_id = await self._invitations.use(tx, key, self.role)
            return await self._add(tx, who, project_id, user_id, who.user_name)

        return await self._db.transaction(work)

    async def remove(self, project_id: int, name: str, who: Requester) -> bool:
        """Takes the role; False when they do not have it. What they did stays."""
        recent_proof.require_to_manage(who)
        person = await self._accounts.find_by_name(name)

        async def work(tx: Database) -> bool:
            done = await helper_statements.remove_helper(tx, self.role, project_id, person["id"])
            if done:
                await _note(tx, who, f"remove_{self.role}", project_id, before=person["name"])
            return done

        return await self._db.transaction(work)

    async def _add(self, tx: Database, who: Requester, project_id: int, user_id: int, name: str) -> bool:
        state = await helper_statements.add_helper(tx, self.role, project_id, user_id, MAX_HELPERS)
        if state == "full":
            raise ForbiddenError(
                _("A project has at most %(maximum)s reviewers.", maximum=MAX_HELPERS)
                if self.role == "reviewer"
                else _("A project has at most %(maximum)s translators.", maximum=MAX_HELPERS)
            )
        if state == "added":
            await _note(tx, who, f"add_{self.role}", project_id, after=name)
        return state == "added"


async def _note(
    tx: Database, who: Requester, action: str, project_id: int, before: object = None, after: object = None
) -> None:
    await log_statements.write_act(
        tx, who, action, "project", project_id, project_id=project_id, before=before, after=after
    )
