"""Who runs a project: co-owners, invitations by link, handing it over, and the key for external users."""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.accounts.authentication import recent_proof
from crowdd.domain.core import rights
from crowdd.domain.core.attempt_limits import Attempts, Limit
from crowdd.domain.core.secrets import Secrets
from crowdd.domain.projects.project_invitations import ROLES, ProjectInvitations
from crowdd.domain.projects.projects import new_secret_key
from crowdd.errors import NOT_FOUND, ForbiddenError, FormError, NotFoundError
from crowdd.kinds.roles import ADMINS, OWNERS, Role
from crowdd.languages import _
from crowdd.requester import Requester
from crowdd.storage.accounts.rows import Account, AccountPage
from crowdd.storage.core import audit
from crowdd.storage.database import Database, Transactions
from crowdd.storage.projects import ownership, projects
from crowdd.storage.projects.owner_rows import Invitation, ProjectOwner, ProjectOwners
from crowdd.storage.projects.rows import ProjectPage

ROLE: Final = "coowner"
MAX_OWNERS: Final = 50
CREATORS: Final = ADMINS | {Role.CREATOR}
_MAX_ATTEMPTS = 20  # to name an account that there is not


class Ownership:
    """Every change is written down, and needs a session with a recent proof (``recent_proof.require_to_manage``).

    ``row`` is a project's row as ``Projects.owned`` gives it.
    """

    def __init__(
        self,
        db: Transactions,
        secrets: Secrets,
        accounts: Accounts,
        attempts: Attempts,
        invitations: ProjectInvitations,
    ) -> None:
        self._db, self._secrets, self._accounts, self._attempts = db, secrets, accounts, attempts
        self._invitations = invitations

    async def owners(self, row: ProjectPage) -> list[ProjectOwner]:
        """Accounts with score and rank, the owner first (``is_creator``)."""
        return await ownership.owners(self._db, row["id"])

    async def found(self, name: str) -> AccountPage | None:
        """The account with exactly this nickname, score and rank; None when there is none."""
        try:
            known = await self._accounts.find_by_name(name)
        except NotFoundError:
            return None
        return await self._accounts.profile(known["id"])

    async def add(self, row: ProjectPage, name: str, who: Requester) -> bool:
        """Makes somebody a co-owner; False when they are one. NotFoundError for an unknown name."""
        _require(who, row, OWNERS)
        person = await self._accounts.find_by_name(name)

        async def work(tx: Database) -> bool:
            return await _add(tx, row["id"], person["id"], person["name"], who)

        return await self._db.transaction(work)

    async def remove(self, row: ProjectPage, name: str, who: Requester) -> bool:
        """Takes a co-owner's rights; False when there are none. ForbiddenError for the owner.

        The open invitation and a draft's link end and the secret key is replaced: co-owners could see them.
        """
        _require(who, row, OWNERS)
        person = await self._accounts.find_by_name(name)

        async def work(tx: Database) -> bool:
            held = await _held(tx, row["id"])
            if held["owner_id"] == person["id"]:
                raise ForbiddenError(_("You cannot remove the owner. Transfer the project instead."))
            if person["id"] not in held["owners_ids"]:
                return False
            left = [user_id for user_id in held["owners_ids"] if user_id != person["id"]]
            await ownership.set_owners(tx, row["id"], held["owner_id"], left)
            await self._close(tx, row["id"])
            await _note(tx, who, "remove_coowner", row["id"], before=person["name"])
            return True

        return await self._db.transaction(work)

    async def _close(self, tx: Database, project_id: int) -> None:
        """Ends what former owners know: the open invitations, the secret key, the link to try a draft."""
        await self._invitations.withdraw(tx, project_id, *ROLES)
        await projects.set_secret_key(tx, project_id, new_secret_key(self._secrets, project_id))
        await projects.renew_draft_key(tx, project_id)

    # Invitations

    async def invite(self, row: ProjectPage, who: Requester) -> str:
        """The key of a link that makes one person a co-owner; the one before ends."""
        _require(who, row, OWNERS)
        return await self._invitations.invite(row["id"], ROLE, who)

    async def withdraw(self, row: ProjectPage, who: Requester) -> None:
        """Ends the open invitation."""
        _require(who, row, OWNERS)
        await self._invitations.withdraw(self._db, row["id"], ROLE)

    async def invitation(self, row: ProjectPage) -> Invitation | None:
        """created and expires of the open invitation."""
        return await self._invitations.open(row["id"], ROLE)

    async def accept(self, key: str, short_name: str, who: Requester) -> bool:
        """Makes the requester a co-owner; False when they were one. Raises AnonymousError, ForbiddenError."""
        user_id = await self._invitations.accepting(key, short_name, ROLE, who)

        async def work(tx: Database) -> bool:
            return await _add(tx, await self._invitations.use(tx, key, ROLE), user_id, who.user_name, who)

        return await self._db.transaction(work)

    # The owner

    async def transfer(self, row: ProjectPage, to: str, keep: bool, who: Requester) -> str:
        """Gives the project to the account of that address or nickname, and tells the nickname.

        ``keep``: the owner of before stays as co-owner, and so do the others; else all rights of theirs end. Only the
        owner and administrators may. Raises FormError for ``email_addr``, TooManyRequestsError after many guesses.
        """
        _require(who, row, CREATORS)
        person = await self._guessed(to.strip(), who)

        async def work(tx: Database) -> None:
            held = await _held(tx, row["id"])
            others = [user_id for user_id in held["owners_ids"] if user_id != person["id"]] if keep else []
            await ownership.set_owners(tx, row["id"], person["id"], [person["id"], *others])
            if keep:
                await self._invitations.withdraw(tx, row["id"], ROLE)
            else:
                await self._close(tx, row["id"])
            after = {"owner_id": person["id"], "coowners": len(others)}
            before = {"owner_id": held["owner_id"], "coowners": len(held["owners_ids"]) - 1}
            await _note(tx, who, "transfer", row["id"], before=before, after=after)

        await self._db.transaction(work)
        return str(person["name"])

    async def _guessed(self, to: str, who: Requester) -> Account:
        """The account with this address or nickname. Guesses are limited: they tell which addresses have accounts."""
        limit = Limit(f"transfer:{who.actor}", _MAX_ATTEMPTS)
        await self._attempts.count(limit)
        try:
            person = await self._accounts.find(to)
            if not person["restrict"]:
                await self._attempts.refund(limit)
                return person
        except NotFoundError:
            pass
        raise FormError({"email_addr": [_("No account has this e-mail address or user name.")]})

    async def reset_secret_key(self, row: ProjectPage, who: Requester) -> None:
        """A new key for external users; tokens made with the old one end."""
        _require(who, row, OWNERS)

        async def work(tx: Database) -> None:
            await projects.set_secret_key(tx, row["id"], new_secret_key(self._secrets, row["id"]))
            await _note(tx, who, "reset_secret_key", row["id"])

        await self._db.transaction(work)


def _require(who: Requester, row: ProjectPage, wanted: Set[Role]) -> None:
    """Passes for who has one of the roles and may give the project away."""
    rights.require(who, row["roles"], wanted)
    recent_proof.require_to_manage(who)


async def _held(tx: Database, project_id: int) -> ProjectOwners:
    held = await ownership.lock(tx, project_id)
    if held is None:
        raise NotFoundError(NOT_FOUND)
    return held


async def _add(tx: Database, project_id: int, user_id: int, name: str, who: Requester) -> bool:
    held = await _held(tx, project_id)
    if user_id in held["owners_ids"]:
        return False
    if len(held["owners_ids"]) >= MAX_OWNERS:
        raise ForbiddenError(_("A project has at most %(maximum)s owners.", maximum=MAX_OWNERS))
    await ownership.set_owners(tx, project_id, held["owner_id"], [*held["owners_ids"], user_id])
    await _note(tx, who, "add_coowner", project_id, after=name)
    return True


async def _note(
    tx: Database, who: Requester, action: str, project_id: int, before: object = None, after: object = None
) -> None:
    await audit.write(tx, who, action, "project", project_id, project_id=project_id, before=before, after=after)
