"""Accounts: signing up, in and out, API keys, the first administrator."""

from __future__ import annotations

import re
from typing import Any

import attrs

from crowdd.config import Accounts as AccountSettings
from crowdd.domain import rights
from crowdd.domain.passwords import Passwords
from crowdd.domain.records import NOT_FOUND, Behaviour
from crowdd.domain.secrets import Secrets, token
from crowdd.errors import (
    ConflictError,
    CrowddError,
    ForbiddenError,
    InvalidValueError,
    NotFoundError,
    TooManyRequestsError,
)
from crowdd.kinds import USER
from crowdd.kinds.kind import Standing
from crowdd.kinds.types import clean_text
from crowdd.storage import accounts, audit
from crowdd.storage.database import Database, Row, Transactions
from crowdd.values import SYSTEM, Requester

WINDOW_MINUTES = 15
_PER_ADDRESS = 10  # an address may fail so many times more often than one account from one address
LINK_HOURS = 48
LONGEST_PASSWORD = 1000
EXAMPLES = "examples"  # owns projects that were loaded before there was anybody
# First segments of addresses below /account/ that are pages, not people; and the one account that is nobody's.
RESERVED_NAMES = frozenset(
    {
        "page", "register", "signin", "signout", "forgot-password", "reset-password", "profile", "newsletter",
        "confirm-email", "save_metadata", "first-admin", "api", "export", "delete", "update", "projects",
        EXAMPLES,
    }
)  # fmt: skip


class FormError(CrowddError):
    """A form with mistakes; ``errors`` maps each field to its sentences."""

    code = "form"

    def __init__(self, errors: dict[str, list[str]]) -> None:
        super().__init__("Please correct the errors.")
        self.errors = errors


@attrs.frozen
class Registration:
    """What somebody who signs up says."""

    name: str
    fullname: str
    email_addr: str
    password: str = attrs.field(repr=False)
    confirm: str = attrs.field(repr=False)

    def mistakes(self, shortest_password: int) -> dict[str, list[str]]:
        """What is wrong with it, per field."""
        found: dict[str, list[str]] = {
            "fullname": _length(self.fullname.strip(), 3, 100),
            "name": _length(self.name, 3, 35) or _name(self.name),
            "email_addr": _email(self.email_addr),
            "password": _length(self.password, shortest_password, LONGEST_PASSWORD),
            "confirm": [] if self.confirm == self.password else ["The two passwords differ."],
        }
        return {field: sentences for field, sentences in found.items() if sentences}


@attrs.frozen
class Device:
    """A browser, and the accounts that signed in on it before."""

    name: str = ""
    people: tuple[int, ...] = ()

    def with_person(self, user_id: int) -> Device:
        """The same device after somebody signed in; it remembers the last ten."""
        return Device(self.name or token(), (*[known for known in self.people if known != user_id][-9:], user_id))


UNKNOWN_DEVICE = Device()


class Accounts:
    """Everything about accounts that pages, API and command line share."""

    def __init__(self, db: Transactions, passwords: Passwords, secrets: Secrets, settings: AccountSettings) -> None:
        self._db, self._passwords, self._secrets, self._settings = db, passwords, secrets, settings

    # Requesters

    async def by_key(self, key: str) -> Row | None:
        """The account of an API key, or None."""
        return await accounts.by_key(self._db, self._secrets.digest("api_key", key)) if 0 < len(key) < 200 else None

    async def by_session(self, session_token: str, *, renew: bool = True) -> tuple[Row | None, bytes]:
        """The account of a session cookie, or None, and the hash that names the session, which is prolonged by it."""
        session = self.session_hash(session_token)
        row = await accounts.by_session(self._db, session)
        if row and row["stale"] and renew:
            await accounts.touch_session(self._db, session, self._settings.session_days)
        return row, session

    def session_hash(self, session_token: str) -> bytes:
        """What a session is stored under."""
        return self._secrets.digest("session", session_token)

    # Signing up, in and out

    async def register(self, form: Registration, who: Requester, *, admin: bool = False, checked: bool = True) -> int:
        """The id of a new account. Raises FormError, also for a name or address that is taken."""
        mistakes = form.mistakes(self._settings.shortest_password if checked else 1)
        if mistakes:
            raise FormError(mistakes)
        hashed = await self._passwords.hash(form.password)

        async def work(tx: Database) -> int:
            return await self._add(tx, form, hashed, who, admin)

        return await self._db.transaction(work)

    async def _add(self, tx: Database, form: Registration, hashed: str | None, who: Requester, admin: bool) -> int:
        key = token()
        values = {
            "name": form.name,
            "fullname": form.fullname.strip(),
            "email_addr": form.email_addr.strip(),
            "passwd_hash": hashed,
            "api_key_hash": self._secrets.digest("api_key", key),
            "api_key_sealed": self._secrets.seal(key),
            "admin": admin,
            "valid_email": True,
            "locale": who.locale,
        }
        try:
            user_id = await accounts.add(tx, values)
        except ConflictError as error:
            raise FormError(_taken(error)) from None
        maker = who if who.user_id or who.via == "cli" else attrs.evolve(who, user_id=user_id, user_name=form.name)
        await audit.write(tx, maker, "create", "user", user_id, after={"admin": admin})
        return user_id

    async def sign_in(self, email: str, password: str, who: Requester, device: Device = UNKNOWN_DEVICE) -> int:
        """The id of the account. Raises FormError in the same words for an unknown address and a wrong password.

        Raises TooManyRequestsError after many failures; on a device where the person signed in before only its own
        failures count.
        """
        row = await accounts.by_login(self._db, email.strip())
        limits = self._limits(email, who, device, row)
        await self._throttle(limits)
        good = await self._passwords.check(row["passwd_hash"] if row else None, password[:LONGEST_PASSWORD])
        if row is None or not good or row["restrict"]:
            await accounts.note_failures(self._db, list(limits))
            raise FormError({"email": ["Incorrect e-mail or password."]})
        await accounts.forget_failures(self._db, next(iter(limits)))
        return int(row["id"])

    def _limits(self, email: str, who: Requester, device: Device, row: Row | None) -> dict[str, int]:
        """How many failures are allowed, by what they are counted under."""
        most = self._settings.attempts
        if row is not None and row["id"] in device.people:
            return {f"signin:{device.name}|{row['id']}": most}
        here = f"signin:{who.address}"
        return {f"signin:{email.strip().lower()[:254]}|{who.address}": most, here: most * _PER_ADDRESS}

    async def _throttle(self, limits: dict[str, int]) -> None:
        failed = await accounts.failures(self._db, list(limits), WINDOW_MINUTES)
        if any(failed.get(subject, 0) >= most for subject, most in limits.items()):
            words = "Too many failed attempts. Wait a quarter of an hour, or reset the password."
            raise TooManyRequestsError(words, retry_after=WINDOW_MINUTES * 60, code="too_many_attempts")

    async def open_session(self, user_id: int, agent: str, who: Requester) -> str:
        """The token of a new session, for a cookie."""
        session_token = token()
        session = self.session_hash(session_token)
        await accounts.open_session(self._db, session, user_id, self._settings.session_days, agent[:300], who.address)
        return session_token

    async def close_session(self, who: Requester) -> None:
        """Signs out."""
        if who.session:
            await accounts.close_session(self._db, who.session)

    # Profiles and keys

    async def profile(self, user_id: int) -> Row:
        """The row of an account with score and rank."""
        row = await accounts.profile(self._db, user_id)
        if row is None:
            raise NotFoundError(NOT_FOUND)
        return row

    async def find(self, name: str) -> Row:
        """id, name, e-mail and roles of the account with that nickname or e-mail; NotFoundError when there is none."""
        row = await (accounts.by_email if "@" in name else accounts.by_name)(self._db, name)
        if row is None:
            raise NotFoundError(f"There is no account {name}.")
        return row

    async def find_by_name(self, name: str) -> Row:
        """The same by nickname only, blocked ones left out: what an address names."""
        row = await accounts.by_name(self._db, clean_text(name))
        if row is None or row["restrict"]:
            raise NotFoundError(NOT_FOUND)
        return row

    async def top(self, limit: int) -> list[Row]:
        """Those with the most answers."""
        return await accounts.top(self._db, limit)

    async def reset_api_key(self, user_id: int, who: Requester) -> str:
        """A new API key; the old one is worth nothing at once."""
        itself = frozenset({Standing.SELF}) if who.acting_user == user_id else frozenset()
        rights.require(who, rights.of_requester(who) | itself, USER.rights.update)
        key = token()

        async def work(tx: Database) -> None:
            await accounts.set_key(tx, user_id, self._secrets.digest("api_key", key), self._secrets.seal(key))
            await audit.write(tx, who, "reset_api_key", "user", user_id)

        await self._db.transaction(work)
        return key

    def api_key(self, row: Row) -> str:
        """The API key of an account row."""
        return self._secrets.unseal(row["api_key_sealed"])

    async def of_examples(self) -> Row:
        """The account that owns projects loaded before there was anybody; nobody can sign in to it."""
        form = Registration(EXAMPLES, EXAMPLES.title(), f"{EXAMPLES}-{token()}@example.invalid", "", "")
        if await accounts.by_name(self._db, EXAMPLES) is None:
            await self._db.transaction(lambda tx: self._add(tx, form, None, SYSTEM, admin=False))
        return await self.find(EXAMPLES)

    # Administrators

    async def set_admin(self, user_id: int, admin: bool, who: Requester) -> bool:
        """Makes an administrator or unmakes one; False when nothing changed."""
        rights.require(who, rights.of_requester(who), frozenset({Standing.ADMIN}))

        async def work(tx: Database) -> bool:
            changed = await accounts.set_admin(tx, user_id, admin)
            if changed:
                await audit.write(tx, who, "add_admin" if admin else "remove_admin", "user", user_id)
            return changed

        return await self._db.transaction(work)

    async def admins(self) -> list[Row]:
        """All administrators."""
        return await accounts.admins(self._db)

    async def first_admin_link(self) -> str | None:
        """The token of a fresh link that makes the first administrator; None once there is one. Older links end."""
        if await self.admins():
            return None
        made = token()

        async def work(tx: Database) -> None:
            await accounts.drop_links(tx, "first_admin")
            await accounts.add_link(tx, self._secrets.digest("link", made), "first_admin", LINK_HOURS)

        await self._db.transaction(work)
        return made

    async def first_admin_open(self, link: str) -> None:
        """Passes while the link works; NotFoundError otherwise."""
        row = await accounts.link(self._db, self._secrets.digest("link", link), "first_admin")
        if row is None or await self.admins():
            raise NotFoundError("This link has been used or has run out.", hint="Start the server again for a new one.")

    async def make_first_admin(self, link: str, form: Registration, who: Requester) -> int:
        """The id of the first administrator; the link is used up in the same transaction."""
        await self.first_admin_open(link)
        mistakes = form.mistakes(self._settings.shortest_password)
        if mistakes:
            raise FormError(mistakes)
        hashed = await self._passwords.hash(form.password)

        async def work(tx: Database) -> int:
            if await accounts.use_link(tx, self._secrets.digest("link", link), "first_admin") is None:
                raise NotFoundError("This link has been used or has run out.")
            return await self._add(tx, form, hashed, who, admin=True)

        return await self._db.transaction(work)


class UserBehaviour(Behaviour):
    """People change their own record; administrators everybody's, and that is written down."""

    def __init__(self) -> None:
        super().__init__(USER)

    async def change(self, tx: Database, who: Requester, row: Row, changes: dict[str, Any]) -> None:
        if changes.get("admin") is False and row["id"] == who.user_id:
            raise ForbiddenError("You cannot take the administrator's rights from yourself.")
        await super().change(tx, who, row, changes)
        for name, value in changes.items():
            shown = name in ("admin", "pro", "flags", "category")
            before, after = (row[name], value) if shown else (None, None)
            await audit.write(tx, who, "update", "user", row["id"], attribute=name, before=before, after=after)


def _length(text: str, least: int, most: int) -> list[str]:
    if not least <= len(text) <= most:
        return [f"Use {least} to {most} characters."]
    return []


def _name(name: str) -> list[str]:
    try:
        USER.field("name").parse(name)
    except InvalidValueError:
        return ["No blanks and none of / ? # % & \\ < > \" ' please."]
    if re.search(r"[$|@]", name):
        return ["No $, | or @ please."]
    return ["This name is reserved."] if name.lower() in RESERVED_NAMES else []


def _email(address: str) -> list[str]:
    good = re.fullmatch(r"[^@\s\x00-\x1f\x7f-\x9f]{1,64}@[^@\s\x00-\x1f\x7f-\x9f]+\.[^@\s.]{2,}", address.strip())
    return [] if good and len(address) <= 254 else ["This is no e-mail address."]


def _taken(error: ConflictError) -> dict[str, list[str]]:
    if error.constraint == "account_email_addr":
        return {"email_addr": ["There is an account with this e-mail already."]}
    return {"name": ["This name is taken."]}
