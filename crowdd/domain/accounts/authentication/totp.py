"""Authenticator apps: time-based codes of six digits (RFC 6238), each accepted once."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import attrs

from crowdd.domain.accounts.authentication.sessions import lock_account
from crowdd.domain.core.secrets import Secrets, place
from crowdd.errors import ConflictError
from crowdd.languages import _
from crowdd.lazy import lazy
from crowdd.requester import Requester
from crowdd.storage.accounts import second_factors
from crowdd.storage.accounts.rows import TotpSecret
from crowdd.storage.database import Database, Transactions

if TYPE_CHECKING:
    import pyotp
else:
    pyotp = lazy("pyotp")

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
        row = await second_factors.totp(self._db, user_id)
        return row.confirmed if row else None

    async def enrolment(self, user_id: int, name: str, who: Requester) -> Enrolment:
        """The secret that waits for its first code, the same until it is confirmed or there is a new password.

        Raises ConflictError when an app is set up already.
        """

        async def work(tx: Database) -> TotpSecret | None:
            await lock_account(tx, user_id, who)
            if await second_factors.totp(tx, user_id) is None:
                encrypted = self._secrets.encrypt(pyotp.random_base32(), _place(user_id))
                await second_factors.begin_totp(tx, user_id, encrypted)
            return await second_factors.totp(tx, user_id)

        row = await self._db.transaction(work)
        if row is None or row.confirmed is not None:
            raise ConflictError(_("An authenticator app is set up already. Remove it first."))
        secret = self._secrets.decrypt(row.encrypted, _place(user_id))
        return Enrolment(secret, pyotp.TOTP(secret).provisioning_uri(name=name, issuer_name=self._site()))

    async def confirm(self, tx: Database, user_id: int, code: str) -> bool:
        """Sets the app up when the code is one of the secret that waits; False otherwise."""
        return await self._use(tx, user_id, code, confirm=True)

    async def use(self, tx: Database, user_id: int, code: str) -> bool:
        """Uses a code up; False for a wrong one, and for one that was used before."""
        return await self._use(tx, user_id, code, confirm=False)

    async def _use(self, tx: Database, user_id: int, code: str, *, confirm: bool) -> bool:
        row = await second_factors.totp(tx, user_id)
        if row is None:
            return False
        step = matching_step(self._secrets.decrypt(row.encrypted, _place(user_id)), code, row.now)
        return step is not None and await second_factors.use_step(tx, user_id, step, confirm=confirm)


def matching_step(secret: str, code: str, now: float) -> int | None:
    """The time step whose code this is, at most one step from now (epoch seconds); None when it is none of these."""
    steps = list(_steps(now))
    codes = [pyotp.TOTP(secret).generate_otp(step) for step in steps]
    code_bytes = code.encode("utf-8", "replace")
    matches = [hmac.compare_digest(each.encode(), code_bytes) for each in codes]
    return next((step for step, match in zip(steps, matches, strict=True) if match), None)


def _place(user_id: int) -> str:
    return place("totp", "encrypted", user_id)


def _steps(now: float) -> Iterator[int]:
    yield from range(int(now) // _STEP - _DRIFT, int(now) // _STEP + _DRIFT + 1)
