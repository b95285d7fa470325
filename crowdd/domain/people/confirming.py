"""Addresses that are confirmed by a letter: of somebody who signs up, and new ones of people with an account.

Nobody learns from the answers whether an address is known: its owner is told, by mail.
"""

from __future__ import annotations

from typing import Any

import attrs

from crowdd.config import Accounts as AccountSettings
from crowdd.domain.accounts import Accounts
from crowdd.domain.passwords import Passwords
from crowdd.domain.people import checks
from crowdd.domain.people.arrivals import Arrivals
from crowdd.domain.people.identities import ProviderIdentity
from crowdd.domain.people.proofs import Proofs
from crowdd.domain.people.recovery import PURPOSE as RESET
from crowdd.domain.people.registration import Registration
from crowdd.domain.people.signing_in import Attempts
from crowdd.domain.security_log import ADDRESS_CHANGED, SecurityLog
from crowdd.errors import ConflictError, FormError
from crowdd.languages import _
from crowdd.storage import accounts, audit, links
from crowdd.storage.database import Database, Row, Transactions
from crowdd.values import Requester

REGISTER, ADDRESS = "register", "address"
PATH = "/account/register/confirmation"
_MOST_LETTERS, _PER_ADDRESS = 5, 10


@attrs.frozen
class Confirmed:
    """What an opened link has done: the account, and whether it is new."""

    user_id: int
    new: bool


class Confirming:
    """``required`` says whether people have to show that they read their mail."""

    def __init__(
        self,
        db: Transactions,
        accounts_: Accounts,
        arrivals: Arrivals,
        passwords: Passwords,
        proofs: Proofs,
        attempts: Attempts,
        settings: AccountSettings,
        security_log: SecurityLog,
    ) -> None:
        self._security_log = security_log
        self._db, self._accounts, self._arrivals, self._passwords = db, accounts_, arrivals, passwords
        self._proofs, self._attempts, self._settings = proofs, attempts, settings

    @property
    def required(self) -> bool:
        """Whether an account comes into being only by a link in a letter."""
        return self._settings.confirm_email

    async def register(self, form: Registration, identity: ProviderIdentity | None, who: Requester) -> None:
        """Writes to whoever signs up, or to the owner of an address that has an account already.

        Both cost the same. Raises FormError, TooManyRequestsError.
        """
        shortest = None if identity else self._settings.shortest_password
        if mistakes := form.mistakes(shortest):
            raise FormError(mistakes)
        if await accounts.by_name(self._db, form.name) is not None:
            raise FormError({"name": [_("This name is taken.")]})
        await self._limit(form.email_addr, who)
        hashed = None if identity else await self._passwords.hash(form.password)
        data = {
            "name": form.name,
            "fullname": form.fullname.strip(),
            "email_addr": form.email_addr.strip(),
            "passwd_hash": hashed,
            "locale": who.locale,
            "identity": identity.packed() if identity else None,
        }
        known = await accounts.by_email(self._db, form.email_addr.strip())
        await self._db.transaction(lambda tx: self._write(tx, known, data, who.locale))

    async def _write(self, tx: Database, known: Row | None, data: dict[str, Any], locale: str) -> None:
        to = data["email_addr"]
        if known is None:
            said = "Thanks for signing up."
            await self._proofs.send_link(
                tx, REGISTER, PATH, to, "confirm_registration", locale, data=data, said=said, name=data["fullname"]
            )
        else:
            await self._tell_owner(tx, known)

    async def _tell_owner(self, tx: Database, known: Row) -> None:
        """Somebody typed an address that has an account: its owner hears of it, with a way in."""
        await self._proofs.send_link(
            tx,
            RESET,
            "/account/reset-password",
            known["email_addr"],
            "known_address",
            known["locale"],
            user_id=known["id"],
            said="Choose a new password.",
            name=known["name"],
        )

    async def change(self, row: Row, email: str, who: Requester) -> None:
        """Writes to an address that is to become a person's; until the link is opened the old one stays."""
        await self._limit(email, who)
        known = await accounts.by_email(self._db, email.strip())

        async def work(tx: Database) -> None:
            await accounts.note_sent(tx, row["id"])
            if known is not None and known["id"] != row["id"]:
                await self._tell_owner(tx, known)
                return
            await self._proofs.send_link(
                tx,
                ADDRESS,
                PATH,
                email.strip(),
                "confirm_address",
                row["locale"],
                user_id=row["id"],
                data={"email_addr": email.strip()},
                said="Your address is confirmed.",
                name=row["name"],
            )

        await self._db.transaction(work)

    async def look(self, key: str) -> str:
        """REGISTER or ADDRESS, for a link that works. Raises ForbiddenError."""
        return await self._proofs.look(self._db, key, REGISTER, ADDRESS)

    async def confirm(self, key: str, who: Requester) -> Confirmed:
        """Does what a link is for. Raises ForbiddenError; FormError when name or address are taken meanwhile."""
        if await self.look(key) == REGISTER:
            return Confirmed(await self._create(key, who), True)
        return Confirmed(await self._confirm_address(key, who), False)

    async def _create(self, key: str, who: Requester) -> int:
        async def work(tx: Database) -> int:
            _user, data = await self._proofs.use(tx, key, REGISTER)
            identity = ProviderIdentity.unpacked(data["identity"]) if data["identity"] else None
            form = Registration(data["name"], data["fullname"], data["email_addr"], "", "")
            as_said = attrs.evolve(who, locale=data["locale"])
            user_id = await self._accounts.add(tx, form, data["passwd_hash"], as_said)
            if identity is not None:
                await self._arrivals.connect_in(tx, user_id, identity)
            return user_id

        return await self._db.transaction(work)

    async def _confirm_address(self, key: str, who: Requester) -> int:
        async def work(tx: Database) -> int:
            user_id, data = await self._proofs.use(tx, key, ADDRESS)
            assert user_id is not None
            before = await accounts.address(tx, user_id)
            try:
                await accounts.set_address(tx, user_id, data["email_addr"])
            except ConflictError as error:
                raise FormError(checks.taken(error)) from None
            await audit.write(tx, who, "confirm_address", "user", user_id)
            if before["email_addr"].lower() != data["email_addr"].lower():
                await self._security_log.note(tx, ADDRESS_CHANGED, who, user_id=user_id)
                await self.tell_old(tx, before)
            return user_id

        return await self._db.transaction(work)

    async def tell_old(self, tx: Database, before: Row) -> None:
        """Writes to an address that is a person's no more; links that went there end."""
        await links.drop_of_subject(tx, self._proofs.subject(before["email_addr"]), RESET)
        await self._proofs.send(tx, before["email_addr"], "address_changed", before["locale"], name=before["name"])

    async def _limit(self, email: str, who: Requester) -> None:
        limits = {
            f"letter:{email.strip().lower()}": _MOST_LETTERS,
            f"letter:{who.network}": _MOST_LETTERS * _PER_ADDRESS,
        }
        await self._attempts.require(limits)
        await self._attempts.note(limits)
