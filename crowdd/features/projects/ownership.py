"""Owners and settings of a project: co-owners, invitations, transfer, the key for external users, and who sees answers.

An invitation is a link that gives one person a role in the project, once.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Final, TypedDict

from crowdd.core import log_statements, recent_proof
from crowdd.core.quotas import Attempts, Limit
from crowdd.core.records import rights
from crowdd.core.secrets import Secrets, token
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts import statements as account_statements
from crowdd.features.accounts.accounts import Accounts
from crowdd.features.accounts.rows import Account, AccountPage, NewLink, OneTimeLink
from crowdd.features.projects import statements
from crowdd.features.projects.projects import new_secret_key
from crowdd.features.projects.rows import (
    Invitation,
    ProjectAttention,
    ProjectOwner,
    ProjectOwners,
    ProjectPage,
    ProjectSettings,
)
from crowdd.kernel.errors import NOT_FOUND, AnonymousError, ForbiddenError, FormError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.roles import ADMINS, OWNERS, Role
from crowdd.sched import webhook_retries

INVITATION_HOURS: Final = 7 * 24
ROLES: Final = ("coowner", "reviewer", "translator")
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
            await account_statements.delete_links_of_subject(tx, subject, role)
            data = {"project_id": project_id, "by": who.fullname or who.user_name}
            link = NewLink(self._hash(key), role, INVITATION_HOURS, who.user_id, data, subject)
            await account_statements.insert_link(tx, link)
            await log_statements.write_act(tx, who, f"invite_{role}", "project", project_id, project_id=project_id)

        await self._db.transaction(work)
        return key

    async def withdraw(self, db: Database, project_id: int, *roles: str) -> None:
        """Ends the open invitations to these roles."""
        for role in roles:
            await account_statements.delete_links_of_subject(db, self._subject(project_id), role)

    async def open(self, project_id: int, role: str) -> Invitation | None:
        """created and expires of the open invitation."""
        return await statements.find_invitation(self._db, self._subject(project_id), role)

    async def invited(self, key: str, short_name: str) -> Invited:
        """What the link with this key is to. Raises ForbiddenError."""
        for role in ROLES:
            link = await account_statements.find_link(self._db, self._hash(key), role)
            project = await statements.read_project_name(self._db, _project_of(link)) if link else None
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
        link = await account_statements.use_link(tx, self._hash(key), role)
        if link is None:
            raise ForbiddenError(_SPENT)
        return _project_of(link)

    def _hash(self, key: str) -> bytes:
        return self._secrets.digest("link", key)

    def _subject(self, project_id: int) -> bytes:
        return self._secrets.digest("invitation", str(project_id))


def _project_of(link: OneTimeLink) -> int:
    return int(str(link.data["project_id"]))


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
        return await statements.list_owners(self._db, row["id"])

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
            await statements.set_owners(tx, row["id"], held["owner_id"], left)
            await self._close(tx, row["id"])
            await _note(tx, who, "remove_coowner", row["id"], before=person["name"])
            return True

        return await self._db.transaction(work)

    async def _close(self, tx: Database, project_id: int) -> None:
        """Ends what former owners know: the open invitations, the secret key, the link to try a draft."""
        await self._invitations.withdraw(tx, project_id, *ROLES)
        await statements.set_secret_key(tx, project_id, new_secret_key(self._secrets, project_id))
        await statements.renew_draft_key(tx, project_id)

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
            await statements.set_owners(tx, row["id"], person["id"], [person["id"], *others])
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
            await statements.set_secret_key(tx, row["id"], new_secret_key(self._secrets, row["id"]))
            await _note(tx, who, "reset_secret_key", row["id"])

        await self._db.transaction(work)


def _require(who: Requester, row: ProjectPage, wanted: Set[Role]) -> None:
    """Passes for who has one of the roles and may give the project away."""
    rights.require(who, row["roles"], wanted)
    recent_proof.require_to_manage(who)


async def _held(tx: Database, project_id: int) -> ProjectOwners:
    held = await statements.lock_owners(tx, project_id)
    if held is None:
        raise NotFoundError(NOT_FOUND)
    return held


async def _add(tx: Database, project_id: int, user_id: int, name: str, who: Requester) -> bool:
    held = await _held(tx, project_id)
    if user_id in held["owners_ids"]:
        return False
    if len(held["owners_ids"]) >= MAX_OWNERS:
        raise ForbiddenError(_("A project has at most %(maximum)s owners.", maximum=MAX_OWNERS))
    await statements.set_owners(tx, project_id, held["owner_id"], [*held["owners_ids"], user_id])
    await _note(tx, who, "add_coowner", project_id, after=name)
    return True


async def _note(
    tx: Database, who: Requester, action: str, project_id: int, before: object = None, after: object = None
) -> None:
    await log_statements.write_act(
        tx, who, action, "project", project_id, project_id=project_id, before=before, after=after
    )


def complete_only(row: ProjectPage) -> bool:
    """Whether those who see a project (its row) see the answers to its complete tasks only."""
    return row["info"].get("answers_when_complete") is True and not row["roles"] & OWNERS


FAILED_WORK_DAYS = 7  # so long a failed background task needs attention; afterwards it is history


class SettingsOverview:
    """``row`` is a project's row as ``Projects.owned`` gives it; the requester must be one of its owners."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def attention(self, row: ProjectPage, who: Requester) -> ProjectAttention:
        """What the owners should look at, from the rows that it is about."""
        rights.require(who, row["roles"], OWNERS)
        return await statements.read_attention(self._db, row["id"], webhook_retries.FAILING, FAILED_WORK_DAYS)

    async def current(self, row: ProjectPage, who: Requester) -> ProjectSettings:
        """The values of settings that do not stand in the project's own row."""
        rights.require(who, row["roles"], OWNERS)
        return await statements.read_settings(self._db, row["id"], webhook_retries.FAILING)
