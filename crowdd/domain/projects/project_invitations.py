"""Invitations to a project: links that give one person a role in it, once."""

from __future__ import annotations

from typing import Final, TypedDict

from crowdd.domain.core.secrets import Secrets, token
from crowdd.errors import AnonymousError, ForbiddenError
from crowdd.languages import _
from crowdd.requester import Requester
from crowdd.storage.accounts import one_time_links
from crowdd.storage.accounts.rows import OneTimeLink
from crowdd.storage.core import audit
from crowdd.storage.database import Database, Transactions
from crowdd.storage.projects import ownership
from crowdd.storage.projects.owner_rows import Invitation
from crowdd.values import Values

INVITATION_HOURS: Final = 7 * 24
ROLES: Final = ("coowner", "reviewer")
"""What a person may become, which is the purpose of the link."""
_SPENT = _("This invitation has been used or has expired. Ask for a new one.")


class Invited(TypedDict):
    """What an invitation is to: ``project`` (name, short_name), who invites, and one of ROLES."""

    project: Values
    by: str
    role: str


class ProjectInvitations:
    """One open invitation for each project and role. The caller has checked that the requester owns the project."""

    def __init__(self, db: Transactions, secrets: Secrets) -> None:
        self._db, self._secrets = db, secrets

    async def invite(self, project_id: int, role: str, who: Requester) -> str:
        """The key of a link that gives one person a role, within INVITATION_HOURS; the one before ends."""
        key, subject = token(), self._subject(project_id)

        async def work(tx: Database) -> None:
            await one_time_links.drop_of_subject(tx, subject, role)
            data = {"project_id": project_id, "by": who.fullname or who.user_name}
            await one_time_links.add(tx, self._hash(key), role, INVITATION_HOURS, who.user_id, data, subject)
            await audit.write(tx, who, f"invite_{role}", "project", project_id, project_id=project_id)

        await self._db.transaction(work)
        return key

    async def withdraw(self, db: Database, project_id: int, *roles: str) -> None:
        """Ends the open invitations to these roles."""
        for role in roles:
            await one_time_links.drop_of_subject(db, self._subject(project_id), role)

    async def open(self, project_id: int, role: str) -> Invitation | None:
        """created and expires of the open invitation."""
        return await ownership.invitation(self._db, self._subject(project_id), role)

    async def invited(self, key: str, short_name: str) -> Invited:
        """What the link with this key is to. Raises ForbiddenError."""
        for role in ROLES:
            link = await one_time_links.find(self._db, self._hash(key), role)
            project = await ownership.named(self._db, _project_of(link)) if link else None
            if link is not None and project is not None and project["short_name"] == short_name:
                named: Values = {name: dict(project)[name] for name in ("name", "short_name")}
                return {"project": named, "by": str(link.data["by"]), "role": role}
        raise ForbiddenError(_SPENT)

    async def accepting(self, key: str, short_name: str, role: str, who: Requester) -> int:
        """The account that accepts a link. Raises AnonymousError, ForbiddenError."""
        if who.acting_user is None:
            raise AnonymousError(_("Sign in first."))
        if (await self.invited(key, short_name))["role"] != role:
            raise ForbiddenError(_SPENT)
        return who.acting_user

    async def use(self, tx: Database, key: str, role: str) -> int:
        """Uses a link up: the project that it is for. Raises ForbiddenError."""
        link = await one_time_links.use(tx, self._hash(key), role)
        if link is None:
            raise ForbiddenError(_SPENT)
        return _project_of(link)

    def _hash(self, key: str) -> bytes:
        return self._secrets.digest("link", key)

    def _subject(self, project_id: int) -> bytes:
        return self._secrets.digest("invitation", str(project_id))


def _project_of(link: OneTimeLink) -> int:
    return int(str(link.data["project_id"]))
