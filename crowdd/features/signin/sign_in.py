"""Sign in with a password, slow guessers down, and e-mail people about sign-ins on a new device."""

from __future__ import annotations

import contextlib
from typing import TypedDict

from crowdd.core.devices import UNKNOWN_DEVICE, Authenticated, Device
from crowdd.core.quotas import HOUR_MINUTES, NETWORK_FACTOR, Attempts, Limit
from crowdd.core.security_log import PASSWORD_WRONG, SIGN_IN_FAILED, SIGN_IN_THROTTLED, SecurityLog
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts import session_statements
from crowdd.features.accounts import statements as account_statements
from crowdd.features.accounts.email_links import EmailLinks
from crowdd.features.accounts.passwords import Passwords
from crowdd.features.accounts.rows import AccountWithPassword
from crowdd.features.accounts.sessions import device_words
from crowdd.features.accounts.validation import MAX_PASSWORD_LENGTH
from crowdd.features.signin.second_factors import security_page
from crowdd.kernel.config.accounts import AccountSettings
from crowdd.kernel.errors import BusyError, FormError, TooManyRequestsError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester

WRONG = _("Incorrect e-mail or password.")


class _Tried(TypedDict):
    """Whom a sign-in is about: an account, or what was typed where there is none."""

    user_id: int | None
    tried: str


class SigningIn:
    """Passwords checked in the time that any answer takes, for addresses known and unknown."""

    def __init__(
        self,
        db: Transactions,
        passwords: Passwords,
        attempts: Attempts,
        settings: AccountSettings,
        security_log: SecurityLog,
    ) -> None:
        self._db, self._passwords, self._attempts, self._settings = db, passwords, attempts, settings
        self._security_log = security_log

    async def sign_in(
        self, email: str, password: str, who: Requester, device: Device = UNKNOWN_DEVICE
    ) -> Authenticated:
        """The account. Raises FormError in the same words for an unknown address and a wrong password.

        Raises TooManyRequestsError after many failures, before the password is looked at; on a device where the person
        signed in before only its own failures count. Raises BusyError.
        """
        row = await account_statements.find_by_login(self._db, email.strip())
        words = password[:MAX_PASSWORD_LENGTH]
        tried: _Tried = {"user_id": row["id"], "tried": ""} if row else {"user_id": None, "tried": email or "-"}
        try:
            right = await self._attempts.guess(lambda: self._fits(row, words), *self._limits(email, who, device, row))
        except TooManyRequestsError:
            self._security_log.count(SIGN_IN_THROTTLED, who, **tried)
            raise
        if row is None or not right:
            self._security_log.count(SIGN_IN_FAILED, who, **tried)
            raise FormError({"email": [WRONG]})
        await self._renew_hash(row, words)
        return Authenticated(row["id"], row["access_version"])

    async def require_password(
        self, user_id: int, password: str, who: Requester, *, field: str = "current_password"
    ) -> None:
        """Passes when it is the person's own; raises FormError for the field, TooManyRequestsError, BusyError."""
        stored = await account_statements.read_password_hash(self._db, user_id)
        allowed, hourly = self._settings.max_login_failures, self._settings.max_login_failures_per_hour
        limits = (
            Limit(f"password:{user_id}|{who.network}", allowed),
            Limit(f"password:{user_id}", hourly, HOUR_MINUTES),
        )
        if not await self._attempts.guess(
            lambda: self._passwords.check(stored, password[:MAX_PASSWORD_LENGTH]), *limits
        ):
            self._security_log.count(PASSWORD_WRONG, who, user_id=user_id)
            raise FormError({field: [_("This is not your password.")]})

    async def _fits(self, row: AccountWithPassword | None, password: str) -> bool:
        fits = await self._passwords.check(row["passwd_hash"] if row else None, password)
        return row is not None and fits and not row["restrict"]

    async def _renew_hash(self, row: AccountWithPassword, password: str) -> None:
        """Stores a hash with the parameters of today, which is possible only while the password is known."""
        before = row["passwd_hash"]
        if before is not None and self._passwords.is_outdated(before):
            with contextlib.suppress(BusyError):  # next time
                renewed = await self._passwords.hash(password)
                await account_statements.renew_password_hash(self._db, row["id"], before, renewed)

    def _limits(self, login: str, who: Requester, device: Device, row: AccountWithPassword | None) -> tuple[Limit, ...]:
        """How many failures are allowed, by what they are counted under: the account, whatever names it."""
        allowed = self._settings.max_login_failures
        if row is not None and device.knows(Authenticated(row["id"], row["access_version"])):
            return (Limit(f"signin:{device.name}|{row['id']}", allowed),)
        whose = f"account {row['id']}" if row is not None else login.strip().lower()[:254]
        return (
            Limit(f"signin:{whose}|{who.network}", allowed),
            Limit(f"signin:{who.network}", allowed * NETWORK_FACTOR),
            Limit(f"signin:{whose}", self._settings.max_login_failures_per_hour, HOUR_MINUTES),
        )


class NewDevices:
    """Devices are known by their own cookie, which outlives sessions."""

    def __init__(self, db: Transactions, email_links: EmailLinks) -> None:
        self._db, self._email_links = db, email_links

    async def note(self, account: Authenticated, device: Device, agent: str) -> bool:
        """Notes a sign-in; sends the e-mail when the device is new and the account is not. Whether it did."""

        async def work(tx: Database) -> bool:
            again = await session_statements.note_sign_in(tx, account.user_id)
            if not again or device.knows(account):
                return False
            row = await account_statements.lock_address(tx, account.user_id)
            await self._email_links.send_page(
                tx, security_page(row["name"]), row, "new_device", device=device_words(agent)
            )
            return True

        return await self._db.transaction(work)
