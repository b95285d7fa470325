"""Second factors: which an account has, the second step of sign-in, authenticator apps (TOTP), and recovery codes.

Codes of an app have six digits, depend on the time (RFC 6238), and are accepted once. Recovery codes are ten words on
paper for people who lose their phone, each good for one sign-in.
"""

from __future__ import annotations

import base64
import hmac
import secrets as random
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from urllib.parse import quote

import attrs
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from crowdd.core import log_statements
from crowdd.core.devices import Authenticated
from crowdd.core.quotas import Attempts, Limit
from crowdd.core.secrets import Secrets, place
from crowdd.core.security_log import FACTOR_ADDED, FACTOR_REMOVED, RECOVERY_CODE_USED, SecurityLog
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts import statements as account_statements
from crowdd.features.accounts.email_links import EmailLinks
from crowdd.features.accounts.rows import TotpSecret
from crowdd.features.accounts.sessions import lock_account
from crowdd.features.signin import statements
from crowdd.features.signin.passkeys import Challenge, Passkeys
from crowdd.kernel.errors import ConflictError, FormError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester

RECOVERY_CODE_COUNT = 10
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that look alike on paper
_HALF = 6  # two halves of 6 letters: 59 bits


class RecoveryCodes:
    """Made as a set, shown once, stored as keyed hashes."""

    def __init__(self, db: Transactions, secrets: Secrets, email_links: EmailLinks, security_log: SecurityLog) -> None:
        self._db, self._secrets, self._email_links, self._security_log = db, secrets, email_links, security_log

    async def left(self, user_id: int) -> int:
        """How many codes are not used up."""
        return await statements.count_recovery_codes(self._db, user_id)

    async def replace(self, tx: Database, user_id: int, who: Requester) -> list[str]:
        """Ten new codes; all earlier ones stop working."""
        codes = [_new_code() for _number in range(RECOVERY_CODE_COUNT)]
        await statements.replace_recovery_codes(tx, user_id, [self._hash(user_id, code) for code in codes])
        await log_statements.write_act(tx, who, "new_recovery_codes", "user", user_id)
        return codes

    async def use(self, tx: Database, user_id: int, code: str, who: Requester) -> bool:
        """Uses a code up and tells its person by e-mail; False when it is none of theirs (any more)."""
        if not await statements.use_recovery_code(tx, user_id, self._hash(user_id, code)):
            return False
        row = await account_statements.lock_address(tx, user_id)
        left = await statements.count_recovery_codes(tx, user_id)
        await log_statements.write_act(tx, who, "use_recovery_code", "user", user_id)
        await self._security_log.note(tx, RECOVERY_CODE_USED, who, user_id=user_id)
        await self._email_links.send_page(tx, security_page(row["name"]), row, "recovery_code_used", left=left)
        return True

    def _hash(self, user_id: int, code: str) -> bytes:
        return self._secrets.digest("recovery_code", f"{user_id}:{plain_code(code)}")


def security_page(name: str) -> str:
    """The path of the page from which a person's ways to sign in are reached."""
    return f"/account/{quote(name)}/security"


def plain_code(code: str) -> str:
    """A code as people may type it: in capitals, with blanks, without the hyphen."""
    return "".join(letter for letter in code.lower() if letter.isalnum())


def _new_code() -> str:
    letters = "".join(random.choice(_LETTERS) for _letter in range(2 * _HALF))
    return f"{letters[:_HALF]}-{letters[_HALF:]}"


_DIGITS = 6
_STEP, _DRIFT = 30, 1  # seconds of a time step; how many steps the clock of a phone may be off


@attrs.frozen
class Enrolment:
    """What an authenticator app has to know: ``secret`` to type, ``uri`` for the QR code."""

    secret: str = attrs.field(repr=False)
    uri: str = attrs.field(repr=False)


class Totp:
    """One authenticator app per account. ``site`` returns the name that the app shows."""

    def __init__(self, db: Transactions, secrets: Secrets, site: Callable[[], str]) -> None:
        self._db, self._secrets, self._site = db, secrets, site

    async def since(self, user_id: int) -> datetime | None:
        """When the app was set up; None without one."""
        row = await statements.find_totp(self._db, user_id)
        return row.confirmed if row else None

    async def enrolment(self, user_id: int, name: str, who: Requester) -> Enrolment:
        """The secret that waits for its first code, the same until it is confirmed or there is a new password.

        Raises ConflictError when an app is set up already.
        """

        async def work(tx: Database) -> TotpSecret | None:
            await lock_account(tx, user_id, who)
            if await statements.find_totp(tx, user_id) is None:
                encrypted = self._secrets.encrypt(new_secret(), _place(user_id))
                await statements.begin_totp(tx, user_id, encrypted)
            return await statements.find_totp(tx, user_id)

        row = await self._db.transaction(work)
        if row is None or row.confirmed is not None:
            raise ConflictError(_("An authenticator app is set up already. Remove it first."))
        secret = self._secrets.decrypt(row.encrypted, _place(user_id))
        return Enrolment(secret, _totp(secret).get_provisioning_uri(name, self._site()))

    async def confirm(self, tx: Database, user_id: int, code: str) -> bool:
        """Sets the app up when the code is one of the secret that waits; False otherwise."""
        return await self._use(tx, user_id, code, confirm=True)

    async def use(self, tx: Database, user_id: int, code: str) -> bool:
        """Uses a code up; False for a wrong one, and for one that was used before."""
        return await self._use(tx, user_id, code, confirm=False)

    async def _use(self, tx: Database, user_id: int, code: str, *, confirm: bool) -> bool:
        row = await statements.find_totp(tx, user_id)
        if row is None:
            return False
        step = matching_step(self._secrets.decrypt(row.encrypted, _place(user_id)), code, row.now)
        return step is not None and await statements.use_totp_step(tx, user_id, step, confirm=confirm)


def matching_step(secret: str, code: str, now: float) -> int | None:
    """The time step whose code this is, at most one step from now (epoch seconds); None when it is none of these."""
    steps = list(_steps(now))
    codes = [_totp(secret).generate(step * _STEP) for step in steps]
    code_bytes = code.encode("utf-8", "replace")
    matches = [hmac.compare_digest(each, code_bytes) for each in codes]
    return next((step for step, match in zip(steps, matches, strict=True) if match), None)


def new_secret() -> str:
    """160 random bits as RFC 4226 recommends, in letters and digits that can be typed."""
    return base64.b32encode(random.token_bytes(20)).decode()


def _totp(secret: str) -> TOTP:
    return TOTP(base64.b32decode(secret), _DIGITS, SHA1(), _STEP)  # noqa: S303 - what the apps know


def _place(user_id: int) -> str:
    return place("totp", "encrypted", user_id)


def _steps(now: float) -> Iterator[int]:
    yield from range(int(now) // _STEP - _DRIFT, int(now) // _STEP + _DRIFT + 1)


_WRONG = _("This code is wrong, has been used or has expired.")


@attrs.frozen
class Methods:
    """What somebody can prove themselves with beside a password."""

    totp: bool
    passkey: bool
    codes: int  # recovery codes that are left


@attrs.frozen(eq=False)
class SecondFactors:
    """Every change is written down, and its person is told by e-mail."""

    _db: Transactions
    totp: Totp
    passkeys: Passkeys
    codes: RecoveryCodes
    _attempts: Attempts
    _email_links: EmailLinks
    _max_failures: int
    _security_log: SecurityLog

    async def required(self, user_id: int) -> bool:
        """Whether signing in to the account takes a second factor."""
        return await statements.has_second_factor(self._db, user_id)

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
            words = plain_code(code)
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
            if not await self.totp.confirm(tx, user_id, plain_code(code)):
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
            if not await statements.has_second_factor(tx, user_id):
                raise NotFoundError(_("Set up an authenticator app or a passkey first."))
            await self._tell(tx, user_id, "codes_replaced")
            return await self.codes.replace(tx, user_id, who)

        return await self._db.transaction(work)

    async def remove_totp(self, user_id: int, who: Requester) -> None:
        """Removes the authenticator app. Raises NotFoundError."""
        await self._remove(user_id, who, "totp_removed", lambda tx: statements.delete_totp(tx, user_id))

    async def remove_passkey(self, user_id: int, passkey_id: int, who: Requester) -> None:
        """Removes a passkey. Raises NotFoundError."""
        await self._remove(
            user_id, who, "passkey_removed", lambda tx: statements.delete_passkey(tx, user_id, passkey_id)
        )

    async def remove_all(self, user_id: int, who: Requester) -> int:
        """Removes every factor and recovery code of a person who lost theirs. Returns the number of factors."""

        async def work(tx: Database) -> int:
            await lock_account(tx, user_id, who)
            gone = await statements.delete_second_factors(tx, user_id)
            await log_statements.write_act(tx, who, "remove_second_factors", "user", user_id)
            await self._security_log.note(tx, FACTOR_REMOVED, who, user_id=user_id, detail="all_removed")
            await self._tell(tx, user_id, "all_removed")
            return gone

        return await self._db.transaction(work)

    async def _added(self, tx: Database, user_id: int, who: Requester, act: str) -> list[str]:
        had_codes = await statements.count_recovery_codes(tx, user_id) > 0
        await statements.refresh_second_factor(tx, user_id)
        await log_statements.write_act(tx, who, act, "user", user_id)
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
            await statements.refresh_second_factor(tx, user_id)
            await log_statements.write_act(tx, who, act, "user", user_id)
            await self._security_log.note(tx, FACTOR_REMOVED, who, user_id=user_id, detail=act)
            await self._tell(tx, user_id, act)

        await self._db.transaction(work)

    async def _tell(self, tx: Database, user_id: int, act: str) -> None:
        row = await account_statements.lock_address(tx, user_id)
        await self._email_links.send_page(tx, security_page(row["name"]), row, "second_factor_changed", act=act)
