"""Invitations: links with which people sign up, one account each, on sites that are not open to everybody."""

from __future__ import annotations

from typing import Final

import attrs

from crowdd.core import log_statements, site_statements
from crowdd.core.mail import statements as mail_storage
from crowdd.core.mail.mail import Mail
from crowdd.core.mail.message import plain_address
from crowdd.core.records import rights
from crowdd.core.rows import OpenInvitation
from crowdd.core.secrets import Secrets, token
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts import statements
from crowdd.features.accounts.rows import NewLink
from crowdd.kernel.errors import (
    NOT_FOUND,
    ConflictError,
    FormError,
    InvalidValueError,
    NotFoundError,
    TooManyRequestsError,
)
from crowdd.kernel.languages import NAMES, SOURCE, _
from crowdd.kernel.requester import Requester
from crowdd.kinds.roles import ADMINS
from crowdd.kinds.types import clean_text

MAX_OPEN: Final = 500
MAX_DAYS: Final = 90
MAX_NOTE: Final = 100
MAX_MAILED: Final = 50
"""Invitations that leave by e-mail in an hour, of all administrators together."""
MAIL: Final = "invitation"
_NEEDED: Final = _("This site accepts new accounts by invitation only. Open the link of your invitation.")
_SPENT: Final = _("This invitation has been used or has expired. Ask an administrator for a new one.")


@attrs.frozen
class Invitations:
    """Administrators make and withdraw them; ``accept`` uses one up in the transaction that makes the account."""

    db: Transactions
    secrets: Secrets
    mail: Mail

    @property
    def mail_is_on(self) -> bool:
        """Whether e-mails leave the server."""
        return self.mail.post is not None

    def digest(self, key: str) -> bytes | None:
        """What an invitation is stored under; None for no key."""
        return self.secrets.digest("link", key) if 0 < len(key) < 200 else None

    async def make(self, who: Requester, note: str, days: int, email: str = "", locale: str = SOURCE) -> str:
        """The key of a new invitation. An e-mail in the language ``locale`` brings it to ``email``, "" for no e-mail.

        ``note`` says whom it is for; administrators see the address where it is empty. Raises FormError by these names,
        ConflictError, TooManyRequestsError after MAX_MAILED e-mails in an hour.
        """
        rights.require(who, rights.of_requester(who), ADMINS)
        _check(note, days, email, locale)
        key, details = token(), {"note": clean_text(note) or email, "by": who.fullname or who.user_name}

        async def work(tx: Database) -> None:
            await site_statements.lock(tx)  # so that two at once are counted one after the other
            if len(await site_statements.invitations(tx)) >= MAX_OPEN:
                raise ConflictError(_("There are %(maximum)s open invitations. Withdraw some first.", maximum=MAX_OPEN))
            link = self.secrets.digest("link", key)
            await statements.insert_link(tx, NewLink(link, site_statements.INVITATION, days * 24, who.user_id, details))
            await log_statements.write_act(
                tx, who, "create", "invitation", None, after={"note": note, "days": days, "mailed": mailed}
            )
            if mailed:
                await self._send(tx, email, key, days, locale)

        mailed = bool(email)
        await self.db.transaction(work)
        return key

    async def _send(self, tx: Database, email: str, key: str, days: int, locale: str) -> None:
        """Writes the e-mail. It has no text of a person, so that nobody can send texts of their own to strangers."""
        sent = await mail_storage.lately(tx, MAIL, MAX_MAILED)
        if sent >= MAX_MAILED or await self.mail.send(tx, email, MAIL, {"key": key, "days": days}, locale) is None:
            words = _("Too many invitations were sent in the last hour. Leave the address empty to get a link.")
            raise TooManyRequestsError(words, retry_after=3600)

    async def list(self, who: Requester) -> list[OpenInvitation]:
        """Those that can still be used, the newest first."""
        rights.require(who, rights.of_requester(who), ADMINS)
        return await site_statements.invitations(self.db)

    async def withdraw(self, who: Requester, invitation: str) -> None:
        """Ends an invitation, named by its id in the list. Raises NotFoundError."""
        rights.require(who, rights.of_requester(who), ADMINS)

        async def work(tx: Database) -> None:
            note = await site_statements.withdraw(tx, clean_text(invitation))
            if note is None:
                raise NotFoundError(NOT_FOUND)
            await log_statements.write_act(tx, who, "delete", "invitation", None, before={"note": note})

        await self.db.transaction(work)

    async def needed(self) -> bool:
        """Whether nobody signs up without one."""
        return await site_statements.by_invitation(self.db)

    async def admits(self, key: str) -> bool:
        """Whether somebody with this key, or with none, may sign up."""
        try:
            await self.require(self.digest(key))
        except FormError:
            return False
        return True

    async def require(self, link: bytes | None) -> None:
        """Passes when the site is open to everybody, or the invitation works. Raises FormError."""
        if not await site_statements.by_invitation(self.db):
            return
        if link is None or await statements.find_link(self.db, link, site_statements.INVITATION) is None:
            raise _refusal(link)

    async def accept(self, tx: Database, link: bytes | None, user_id: int, who: Requester) -> None:
        """Uses up the invitation of a new account. Raises FormError where one is needed and this one does not work."""
        used = await statements.use_link(tx, link, site_statements.INVITATION) if link else None
        if used is None:
            if await site_statements.by_invitation(tx):
                raise _refusal(link)
            return
        note = used.data.get("note", "")
        await log_statements.write_act(tx, who, "accept", "invitation", None, after={"note": note, "user_id": user_id})


def _check(note: str, days: int, email: str, locale: str) -> None:
    wrong: dict[str, list[str]] = {}
    if not 1 <= days <= MAX_DAYS:
        wrong["days"] = [_("Enter a number from %(minimum)s to %(maximum)s.", minimum=1, maximum=MAX_DAYS)]
    if len(note) > MAX_NOTE or not note.isprintable():
        wrong["note"] = [_("Use at most %(maximum)s characters.", maximum=MAX_NOTE)]
    if locale not in NAMES:
        choices = ", ".join(NAMES)
        wrong["language"] = [_("%(name)s must be one of %(choices)s.", name="language", choices=choices)]
    if email:
        try:
            plain_address(email)
        except InvalidValueError as error:
            wrong["email"] = [error.args[0]]
    if wrong:
        raise FormError(wrong)


def _refusal(link: bytes | None) -> FormError:
    return FormError({"invitation": [_NEEDED if link is None else _SPENT]})
