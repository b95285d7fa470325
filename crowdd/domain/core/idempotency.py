"""Requests that may be sent again: the same Idempotency-Key, the same effect, once."""

from __future__ import annotations

import hashlib
import hmac

import attrs

from crowdd.errors import IdempotencyError, InvalidValueError
from crowdd.storage.core import idempotency
from crowdd.storage.database import Database

MAX_KEY_LENGTH = 255


@attrs.frozen
class Once:
    """What tells one request from another: who sent it, where to, under which key, and the hash of its body."""

    caller: str
    path: str
    key: str
    body_hash: bytes

    async def made_before(self, tx: Database) -> list[int] | None:
        """The ids that an earlier request with this key made; None for the first, which the key then belongs to.

        Raises IdempotencyError when the earlier one had another body.
        """
        row = await idempotency.claim(tx, self.caller, self.path, self.key, self.body_hash)
        if row is None:
            return None
        if not hmac.compare_digest(bytes(row.body_hash), self.body_hash):
            hint = "Use a new key for a new request."
            raise IdempotencyError("This Idempotency-Key was used with another body.", hint=hint)
        return list(row.ids)

    async def keep(self, tx: Database, ids: list[int]) -> None:
        """Remembers what this request made, in the transaction that made it."""
        await idempotency.keep(tx, self.caller, self.path, self.key, ids)


def once(caller: str, path: str, key: str, body: bytes) -> Once | None:
    """For a request with a key; None without. InvalidValueError for a key that is too long or no plain text."""
    if not key:
        return None
    if len(key) > MAX_KEY_LENGTH or not key.isprintable():
        raise InvalidValueError(f"Idempotency-Key has at most {MAX_KEY_LENGTH} printable characters.")
    return Once(caller, path, key, hashlib.sha256(body).digest())
