"""Addresses that are confirmed by e-mail: of people who sign up, and new ones of people with an account.

Nobody learns from the answers whether an address is known: its owner is told, by mail.
"""

from __future__ import annotations

import attrs

from crowdd.core import log_statements
from crowdd.core.quotas import Attempts
from crowdd.core.security_log import ADDRESS_CHANGED, SecurityLog
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts import statements as account_statements
from crowdd.features.accounts import validation
from crowdd.features.accounts.accounts import Accounts, SignUp
from crowdd.features.accounts.email_links import EmailLinks, Link, greeted, mail_limits
from crowdd.features.accounts.invitations import Invitations
from crowdd.features.accounts.passwords import Passwords
from crowdd.features.accounts.rows import Account, AccountPage, Address
from crowdd.features.accounts.sessions import lock_account
from crowdd.features.accounts.validation import Registration
from crowdd.features.signin.providers import ProviderIdentity
from crowdd.features.signin.social_login import SocialLogin
from crowdd.features.signin.ways_in import ADDRESS, RESET
from crowdd.kernel.config import Settings
from crowdd.kernel.errors import ConflictError, FormError
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values

REGISTER = "register"
PATH = "/account/register/confirmation"
_MAX_MAILS = 5  # to one address from one network in 15 minutes


@attrs.frozen
class Confirmed:
    """What an opened link has done: the account, and whether it is new."""

    user_id: int
    new: bool


@attrs.frozen(eq=False)
class EmailConfirmation:
    """E-mails with links, and what happens when they are opened."""

    _db: Transactions
    _accounts: Accounts
    _social_login: SocialLogin
    _passwords: Passwords
    _email_links: EmailLinks
    _attempts: Attempts
    _settings: Settings
    _security_log: SecurityLog
    _invitations: Invitations

    @property
    def required(self) -> bool:
        """Whether new accounts and addresses must be confirmed."""
        return self._settings.confirms_email

    @property
    def possible(self) -> bool:
        """Whether they can be."""
        return self.required or bool(self._settings.mail.host)

    async def register(self, form: Registration, identity: ProviderIdentity | None, who: Requester) -> None:
        """Writes to the person who signs up, or to the owner of an address that has an account already.

        Both cost the same. Raises FormError, TooManyRequestsError, BusyError.
        """
        await self._accounts.require_acceptable(form, who, passwordless=identity is not None, tells_address=False)
        await self._limit(form.email_addr, who)
        hashed = None if identity else await self._passwords.hash(form.password)
        data = {
            "name": form.name,
            "fullname": form.fullname.strip(),
            "email_addr": form.email_addr.strip(),
            "passwd_hash": hashed,
            "locale": who.locale,
            "identity": identity.packed() if identity else None,
            "invitation": link.hex() if (link := self._invitations.digest(form.invitation)) else "",
        }
        known = await account_statements.find_by_email(self._db, form.email_addr.strip())
        await self._db.transaction(lambda tx: self._write(tx, known, data, who))

    async def _write(self, tx: Database, known: Account | None, data: Values, who: Requester) -> None:
        if known is not None:
            await self._tell_owner(tx, known, who)
            return
        link = Link(REGISTER, PATH, data["email_addr"], who.network, data=data, flash="Thanks for signing up.")
        await self._email_links.send_link(tx, link, "confirm_registration", who.locale)

    async def _tell_owner(self, tx: Database, known: Account, who: Requester) -> None:
        """Somebody typed an address that has an account: its owner hears of it, with a way in."""
        link = Link(
            RESET,
            "/account/reset-password",
            known["email_addr"],
            who.network,
            known["id"],
            flash="Choose a new password.",
        )
        await self._email_links.send_link(tx, link, "known_address", known["locale"], name=greeted(known))

    async def change(self, row: AccountPage, email: str, who: Requester) -> None:
        """Writes to an address that is to become a person's; until the link is opened the old one stays.

        Raises TooManyRequestsError; AnonymousError when the session has ended meanwhile: a link that is made after a
        new password must not come from before it.
        """
        await self._limit(email, who)
        known = await account_statements.find_by_email(self._db, email.strip())

        async def work(tx: Database) -> None:
            await lock_account(tx, row["id"], who)
            await account_statements.note_confirmation_sent(tx, row["id"])
            if known is not None and known["id"] != row["id"]:
                await self._tell_owner(tx, known, who)
                return
            link = Link(
                ADDRESS,
                PATH,
                email.strip(),
                who.network,
                row["id"],
                {"email_addr": email.strip()},
                "Your address is confirmed.",
            )
            await self._email_links.send_link(tx, link, "confirm_address", row["locale"])

        await self._db.transaction(work)

    async def look(self, key: str) -> str:
        """REGISTER or ADDRESS, for a link that works. Raises ForbiddenError."""
        return await self._email_links.look(self._db, key, REGISTER, ADDRESS)

    async def confirm(self, key: str, who: Requester) -> Confirmed:
        """Does what a link is for. Raises ForbiddenError; FormError when name or address are taken meanwhile."""
        if await self.look(key) == REGISTER:
            return Confirmed(await self._create(key, who), True)
        return Confirmed(await self._confirm_address(key, who), False)

    async def _create(self, key: str, who: Requester) -> int:
        async def work(tx: Database) -> int:
            _user, data = await self._email_links.use(tx, key, REGISTER)
            identity = ProviderIdentity.unpacked(data["identity"]) if data["identity"] else None
            form = Registration(data["name"], data["fullname"], data["email_addr"], "", "")
            as_said = attrs.evolve(who, locale=data["locale"])
            invitation = bytes.fromhex(data.get("invitation", "")) or None
            sign_up = SignUp(form, data["passwd_hash"], proved=True, invitation=invitation)
            user_id = await self._accounts.add(tx, sign_up, as_said)
            if identity is not None:
                await self._social_login.connect_in(tx, user_id, identity)
            return user_id

        return await self._db.transaction(work)

    async def _confirm_address(self, key: str, who: Requester) -> int:
        async def work(tx: Database) -> int:
            user_id = await self._email_links.owner(tx, key, ADDRESS)
            before = await account_statements.lock_address(
                tx, user_id
            )  # locked first, as a reset does, which ends this link
            _owner, data = await self._email_links.use(tx, key, ADDRESS)
            try:
                await account_statements.set_address(tx, user_id, data["email_addr"])
            except ConflictError as error:
                raise FormError(validation.describe_taken(error)) from None
            await log_statements.write_act(tx, who, "confirm_address", "user", user_id)
            if before["email_addr"].lower() != data["email_addr"].lower():
                await self._security_log.note(tx, ADDRESS_CHANGED, who, user_id=user_id)
                await self.tell_old(tx, before)
            return user_id

        return await self._db.transaction(work)

    async def tell_old(self, tx: Database, before: Address) -> None:
        """Writes to an address that is a person's no more; links that went there end."""
        await account_statements.delete_links_of_subject(tx, self._email_links.subject(before["email_addr"]), RESET)
        await self._email_links.send(
            tx, before["email_addr"], "address_changed", before["locale"], name=greeted(before)
        )

    async def _limit(self, email: str, who: Requester) -> None:
        await self._attempts.count(*mail_limits("letter", email, who, _MAX_MAILS))
