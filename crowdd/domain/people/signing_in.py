"""Signing in with a password, and what holds guessers up."""

from __future__ import annotations

from typing import TypedDict

import attrs

from crowdd.config import Accounts as AccountSettings
from crowdd.domain.passwords import Passwords
from crowdd.domain.people.checks import LONGEST_PASSWORD
from crowdd.domain.secrets import Secrets, token
from crowdd.domain.security_log import PASSWORD_WRONG, SIGN_IN_FAILED, SIGN_IN_THROTTLED, SecurityLog
from crowdd.errors import FormError, TooManyRequestsError
from crowdd.languages import _
from crowdd.storage import accounts, attempts
from crowdd.storage.database import Row, Transactions
from crowdd.values import Requester

WINDOW_MINUTES = 15
_PER_ADDRESS = 10  # an address may fail so many times more often than one account from one address
WRONG = _("Incorrect e-mail or password.")


class _Tried(TypedDict):
    """Whom a sign-in is about: an account, or what was typed where there is none."""

    user_id: int | None
    tried: str


@attrs.frozen
class Device:
    """A browser, and the accounts that signed in on it before."""

    name: str = ""
    people: tuple[int, ...] = ()

    def with_person(self, user_id: int) -> Device:
        """The same device after somebody signed in; it remembers the last ten."""
        return Device(self.name or token(), (*[known for known in self.people if known != user_id][-9:], user_id))


UNKNOWN_DEVICE = Device()


class Attempts:
    """Counts what failed, under keyed hashes: what was tried is stored nowhere."""

    def __init__(self, db: Transactions, secrets: Secrets) -> None:
        self._db, self._secrets = db, secrets

    async def require(self, limits: dict[str, int]) -> None:
        """Passes while no subject has failed as often as it may; raises TooManyRequestsError otherwise."""
        named = {self._hidden(subject): most for subject, most in limits.items()}
        failed = await attempts.failures(self._db, list(named), WINDOW_MINUTES)
        if any(failed.get(subject, 0) >= most for subject, most in named.items()):
            words = _("Too many failed attempts. Wait a quarter of an hour, or reset the password.")
            raise TooManyRequestsError(words, retry_after=WINDOW_MINUTES * 60, code="too_many_attempts")

    async def note(self, limits: dict[str, int]) -> None:
        """Counts a failure, or an act that may not be repeated at will."""
        await attempts.note(self._db, [self._hidden(subject) for subject in limits])

    async def forget(self, subject: str) -> None:
        """A success wipes the slate of a subject."""
        await attempts.forget(self._db, self._hidden(subject))

    def _hidden(self, subject: str) -> str:
        return self._secrets.digest("attempt", subject).hex()


class SigningIn:
    """Passwords checked in the time that any answer takes, for addresses known and unknown."""

    def __init__(
        self,
        db: Transactions,
        passwords: Passwords,
        attempts_: Attempts,
        settings: AccountSettings,
        security_log: SecurityLog,
    ) -> None:
        self._db, self._passwords, self._attempts, self._settings = db, passwords, attempts_, settings
        self._security_log = security_log

    async def sign_in(self, email: str, password: str, who: Requester, device: Device = UNKNOWN_DEVICE) -> int:
        """The id of the account. Raises FormError in the same words for an unknown address and a wrong password.

        Raises TooManyRequestsError after many failures; on a device where the person signed in before only its own
        failures count.
        """
        row = await accounts.by_login(self._db, email.strip())
        limits = self._limits(email, who, device, row)
        tried: _Tried = {"user_id": row["id"], "tried": ""} if row else {"user_id": None, "tried": email or "-"}
        try:
            await self._attempts.require(limits)
        except TooManyRequestsError:
            self._security_log.count(SIGN_IN_THROTTLED, who, **tried)
            raise
        good = await self._passwords.check(row["passwd_hash"] if row else None, password[:LONGEST_PASSWORD])
        if row is None or not good or row["restrict"]:
            await self._attempts.note(limits)
            self._security_log.count(SIGN_IN_FAILED, who, **tried)
            raise FormError({"email": [WRONG]})
        await self._attempts.forget(next(iter(limits)))
        return int(row["id"])

    async def require_password(
        self, user_id: int, password: str, who: Requester, *, field: str = "current_password"
    ) -> None:
        """Passes when it is the person's own; raises FormError for the field, TooManyRequestsError."""
        limits = {f"password:{user_id}|{who.network}": self._settings.attempts}
        await self._attempts.require(limits)
        stored = await accounts.passwd_hash(self._db, user_id)
        if not await self._passwords.check(stored, password[:LONGEST_PASSWORD]):
            await self._attempts.note(limits)
            self._security_log.count(PASSWORD_WRONG, who, user_id=user_id)
            raise FormError({field: [_("This is not your password.")]})
        await self._attempts.forget(next(iter(limits)))

    def _limits(self, email: str, who: Requester, device: Device, row: Row | None) -> dict[str, int]:
        """How many failures are allowed, by what they are counted under."""
        most = self._settings.attempts
        if row is not None and row["id"] in device.people:
            return {f"signin:{device.name}|{row['id']}": most}
        here = f"signin:{who.network}"
        return {f"signin:{email.strip().lower()[:254]}|{who.network}": most, here: most * _PER_ADDRESS}
