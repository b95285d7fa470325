"""A new password for who has lost the old one.

Every client gets the same answer in the same time: the address is looked up once, and the e-mail is written by the
queue, later, if there is anybody to write to.
"""

from __future__ import annotations

from collections.abc import Collection

import attrs

from crowdd.core import log_statements
from crowdd.core.devices import Authenticated
from crowdd.core.quotas import NETWORK_FACTOR, Attempts, Limit
from crowdd.core.security_log import RESET_ASKED, RESET_DONE, SecurityLog
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts import statements as account_statements
from crowdd.features.accounts import validation
from crowdd.features.accounts.email_links import EmailLinks, Link, greeted, mail_limits
from crowdd.features.accounts.passwords import PasswordPolicy, Passwords
from crowdd.features.accounts.rows import AccountPage
from crowdd.features.signin.access_revocation import NewPassword, Revoking, Way
from crowdd.features.signin.ways_in import RESET as PURPOSE
from crowdd.kernel.config.accounts import AccountSettings
from crowdd.kernel.errors import ConflictError, FormError
from crowdd.kernel.requester import Requester
from crowdd.sched.queue import Queue

HANDLER = "password_reset_mail"
_JOB = Requester(via="job")
_PAGE = "/account/reset-password"
_MAX_MAILS = 3  # to one address from one network in 15 minutes


@attrs.frozen(eq=False)
class Recovery:
    """E-mails with links, and what happens when they are opened."""

    _db: Transactions
    _passwords: Passwords
    _policy: PasswordPolicy
    _email_links: EmailLinks
    _revoking: Revoking
    _attempts: Attempts
    _queue: Queue
    _settings: AccountSettings
    _security_log: SecurityLog

    async def ask(self, email: str, who: Requester) -> None:
        """Has an e-mail written if there is such an account. Raises FormError, TooManyRequestsError."""
        if mistakes := validation.check_email(email):
            raise FormError({"email_addr": mistakes})
        address = email.strip().lower()
        await self._attempts.count(*mail_limits("forgot", address, who, _MAX_MAILS))
        row = await account_statements.find_by_email(self._db, address)
        about, tried = (row["id"], "") if row else (None, address)
        self._security_log.count(RESET_ASKED, who, user_id=about, tried=tried)
        arguments = {"user_id": row["id"] if row else None, "network": who.network}
        await self._queue.add(self._db, HANDLER, arguments, _JOB)

    async def write(self, user_id: int | None, network: str = "") -> bool:
        """Writes the e-mail that a network asked for; False when there is nobody to write to."""
        row = await account_statements.read_profile(self._db, user_id) if user_id is not None else None
        if row is None or row["restrict"]:
            return False

        async def work(tx: Database) -> None:
            link = Link(PURPOSE, _PAGE, row["email_addr"], network, row["id"], flash="Choose a new password.")
            await self._email_links.send_link(tx, link, "reset_password", row["locale"], name=greeted(row))

        await self._db.transaction(work)
        return True

    async def make_link(self, row: AccountPage, who: Requester) -> str:
        """A link with which the person chooses a password, for an administrator who brings it to them.

        Raises ConflictError for a blocked account.
        """
        if row["restrict"]:
            raise ConflictError(f"{row['name']} is blocked.")

        async def work(tx: Database) -> str:
            await log_statements.write_act(tx, who, "make_reset_link", "user", row["id"])
            return await self._email_links.make_link(tx, Link(PURPOSE, _PAGE, row["email_addr"], who.via, row["id"]))

        return await self._db.transaction(work)

    async def open(self, key: str, who: Requester) -> None:
        """Passes while the link works. Raises ForbiddenError, TooManyRequestsError."""
        limit = Limit(f"reset:{who.network}", self._settings.max_login_failures * NETWORK_FACTOR)
        await self._attempts.count(limit)
        await self._email_links.look(self._db, key, PURPOSE)
        await self._attempts.refund(limit)

    async def choices(self, key: str) -> list[Way]:
        """The ways in that the person with this link is asked about. Raises ForbiddenError."""
        user_id = await self._email_links.owner(self._db, key, PURPOSE)
        demanded = self._demands_factor(await account_statements.read_profile(self._db, user_id))
        return await self._revoking.choices(self._db, user_id, demanded=demanded)

    def _demands_factor(self, row: AccountPage | None) -> bool:
        return row is not None and row["admin"] and self._settings.require_second_factor == "admins"

    async def reset(self, key: str, new: str, confirm: str, keep: Collection[str], who: Requester) -> NewPassword:
        """The account that has a new password now. Every session of it has ended, and so have links in other e-mails.

        The API key is replaced, and of the other ways in only those are left that ``keep`` names out of ``choices``:
        the person who opens the e-mail reads that address; an earlier one may have been somebody else.
        Raises FormError, ForbiddenError, TooManyRequestsError, BusyError.
        """
        await self.open(key, who)
        user_id = await self._email_links.owner(self._db, key, PURPOSE)
        row = await account_statements.read_profile(self._db, user_id)
        about = (row["name"], row["fullname"], row["email_addr"]) if row else ()
        words, again = await self._policy.mistakes(new, confirm, about)
        if mistakes := validation.select_mistakes({"new_password": words, "confirm": again}):
            raise FormError(mistakes)
        hashed = await self._passwords.hash(new)
        demanded = self._demands_factor(row)
        return await self._db.transaction(lambda tx: self._set(tx, key, hashed, keep, who, demanded))

    async def _set(
        self, tx: Database, key: str, hashed: str, keep: Collection[str], who: Requester, demanded: bool
    ) -> NewPassword:
        user_id = await self._email_links.owner(tx, key, PURPOSE)
        row = await account_statements.lock_address(tx, user_id)  # locked first, as the confirmation of an address does
        await self._email_links.use(tx, key, PURPOSE)
        account = Authenticated(user_id, await account_statements.set_password(tx, user_id, hashed))
        done = await self._revoking.recover(tx, account, who, keep, demanded=demanded)
        await account_statements.note_address_confirmed(tx, user_id)
        await log_statements.write_act(tx, who, "reset_password", "user", user_id)
        await self._security_log.note(tx, RESET_DONE, who, user_id=user_id)
        context = {"new_key": done.recovered, "ended": done.ended, "name": greeted(row)}
        await self._email_links.send(tx, row["email_addr"], "password_changed", row["locale"], **context)
        return done
