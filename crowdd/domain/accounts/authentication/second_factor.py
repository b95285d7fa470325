"""The second step of signing in: which factors an account has, checking one, setting them up and removing them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import attrs

from crowdd.domain.accounts.authentication.passkeys import Challenge, Passkeys
from crowdd.domain.accounts.authentication.recovery_codes import RecoveryCodes, plain, security_page
from crowdd.domain.accounts.authentication.sessions import Authenticated, lock_account
from crowdd.domain.accounts.authentication.totp import Totp
from crowdd.domain.accounts.email_links import EmailLinks
from crowdd.domain.core.attempt_limits import Attempts, Limit
from crowdd.domain.core.security_log import FACTOR_ADDED, FACTOR_REMOVED, SecurityLog
from crowdd.errors import FormError, NotFoundError
from crowdd.languages import _
from crowdd.requester import Requester
from crowdd.storage.accounts import passkeys, second_factors
from crowdd.storage.core import audit
from crowdd.storage.database import Database, Transactions

_WRONG = _("This code is wrong, has been used or has expired.")


@attrs.frozen
class Methods:
    """What somebody can prove themselves with beside a password."""

    totp: bool
    passkey: bool
    codes: int  # recovery codes that are left


class SecondFactors:
    """Every change is written down, and its person is told by e-mail."""

    def __init__(
        self,
        db: Transactions,
        totp: Totp,
        passkeys_: Passkeys,
        codes: RecoveryCodes,
        attempts: Attempts,
        email_links: EmailLinks,
        max_failures: int,
        security_log: SecurityLog,
    ) -> None:
        self._security_log = security_log
        self._db, self._attempts, self._email_links, self._max_failures = db, attempts, email_links, max_failures
        self.totp, self.passkeys, self.codes = totp, passkeys_, codes

    async def required(self, user_id: int) -> bool:
        """Whether signing in to the account takes a second factor."""
        return await second_factors.has_any(self._db, user_id)

    async def methods(self, user_id: int) -> Methods:
        """What the account has."""
        totp = await self.totp.since(user_id) is not None
        return Methods(totp, bool(await self.passkeys.of_user(user_id)), await self.codes.left(user_id))

    # Using one

    async def check_code(self, user_id: int, code: str, who: Requester, *, recovery: bool = True) -> None:
        """Uses up a code of the authenticator app or (with ``recovery``) a recovery code.

        Raises FormError, and TooManyRequestsError after many failures from anywhere: a person who gets here knows the
        password already.
        """

        async def work(tx: Database) -> bool:
            words = plain(code)
            if len(words) == 6 and words.isdigit():
                return await self.totp.use(tx, user_id, words)
            return recovery and await self.codes.use(tx, user_id, words, who)

        limit = Limit(f"second:{user_id}", self._max_failures)
        if not await self._attempts.guess(lambda: self._db.transaction(work), limit):
            raise FormError({"code": [_WRONG]})

    async def check_passkey(
        self, credential: str, challenge: Challenge | None, purpose: str, user_id: int | None = None
    ) -> Authenticated:
        """The account whose passkey answered the challenge: that of ``user_id``, if one is given. Raises FormError."""
        return await self._db.transaction(lambda tx: self.passkeys.use(tx, credential, challenge, purpose, user_id))

    # Setting up and removing

    async def add_totp(self, user_id: int, code: str, who: Requester) -> list[str]:
        """Confirms the authenticator app with its first code; the recovery codes, if these are the first.

        Raises FormError, TooManyRequestsError.
        """
        limit = Limit(f"enrol:{user_id}", self._max_failures)
        await self._attempts.count(limit)

        async def work(tx: Database) -> list[str]:
            await lock_account(tx, user_id, who)
            if not await self.totp.confirm(tx, user_id, plain(code)):
                raise FormError({"code": [_WRONG]})
            return await self._added(tx, user_id, who, "totp_added")

        codes = await self._db.transaction(work)
        await self._attempts.succeeded(limit)
        return codes

    async def add_passkey(
        self, user_id: int, name: str, credential: str, challenge: Challenge | None, who: Requester
    ) -> list[str]:
        """Registers a passkey; the recovery codes, if these are the first. Raises FormError."""

        async def work(tx: Database) -> list[str]:
            await lock_account(tx, user_id, who)
            await self.passkeys.register(tx, user_id, name, credential, challenge)
            return await self._added(tx, user_id, who, "passkey_added")

        return await self._db.transaction(work)

    async def new_codes(self, user_id: int, who: Requester) -> list[str]:
        """Ten new recovery codes in place of the earlier ones. Raises NotFoundError without a second factor."""

        async def work(tx: Database) -> list[str]:
            await lock_account(tx, user_id, who)
            if not await second_factors.has_any(tx, user_id):
                raise NotFoundError(_("Set up an authenticator app or a passkey first."))
            await self._tell(tx, user_id, "codes_replaced")
            return await self.codes.replace(tx, user_id, who)

        return await self._db.transaction(work)

    async def remove_totp(self, user_id: int, who: Requester) -> None:
        """Removes the authenticator app. Raises NotFoundError."""
        await self._remove(user_id, who, "totp_removed", lambda tx: second_factors.drop_totp(tx, user_id))

    async def remove_passkey(self, user_id: int, passkey_id: int, who: Requester) -> None:
        """Removes a passkey. Raises NotFoundError."""
        await self._remove(user_id, who, "passkey_removed", lambda tx: passkeys.drop(tx, user_id, passkey_id))

    async def remove_all(self, user_id: int, who: Requester) -> int:
        """Removes every factor and recovery code of somebody who lost theirs; how many factors these were."""

        async def work(tx: Database) -> int:
            await lock_account(tx, user_id, who)
            gone = await second_factors.remove_all(tx, user_id)
            await audit.write(tx, who, "remove_second_factors", "user", user_id)
            await self._security_log.note(tx, FACTOR_REMOVED, who, user_id=user_id, detail="all_removed")
            await self._tell(tx, user_id, "all_removed")
            return gone

        return await self._db.transaction(work)

    async def _added(self, tx: Database, user_id: int, who: Requester, act: str) -> list[str]:
        had_codes = await second_factors.codes_left(tx, user_id) > 0
        await second_factors.refresh(tx, user_id)
        await audit.write(tx, who, act, "user", user_id)
        await self._security_log.note(tx, FACTOR_ADDED, who, user_id=user_id, detail=act)
        await self._tell(tx, user_id, act)
        return [] if had_codes else await self.codes.replace(tx, user_id, who)

    async def _remove(
        self, user_id: int, who: Requester, act: str, drop: Callable[[Database], Awaitable[bool]]
    ) -> None:
        async def work(tx: Database) -> None:
            await lock_account(tx, user_id, who)
            if not await drop(tx):
                raise NotFoundError(_("This has been removed already."))
            await second_factors.refresh(tx, user_id)
            await audit.write(tx, who, act, "user", user_id)
            await self._security_log.note(tx, FACTOR_REMOVED, who, user_id=user_id, detail=act)
            await self._tell(tx, user_id, act)

        await self._db.transaction(work)

    async def _tell(self, tx: Database, user_id: int, act: str) -> None:
        row = await second_factors.lock(tx, user_id)
        await self._email_links.send_page(tx, security_page(row["name"]), row, "second_factor_changed", act=act)
