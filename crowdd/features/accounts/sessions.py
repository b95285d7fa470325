"""Sessions: rows on the server, so that they can be listed and ended."""

from __future__ import annotations

import re
from functools import partial

from crowdd.core.devices import Authenticated
from crowdd.core.rows import SessionAccount
from crowdd.core.secrets import Secrets, token
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts import session_statements, statements
from crowdd.features.accounts.rows import LockedAddress
from crowdd.kernel.concurrency.batching import Batcher, BatcherFactory
from crowdd.kernel.errors import AnonymousError
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values

_AGENT = 300  # characters that are kept of what a browser calls itself
_BROWSERS = (
    ("Edg", "Edge"), ("OPR", "Opera"), ("SamsungBrowser", "Samsung Internet"), ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"), ("Chrome", "Chrome"), ("CriOS", "Chrome"), ("Safari", "Safari"), ("curl", "curl"),
    ("python", "Python"),
)  # fmt: skip
_SYSTEMS = (
    ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"), ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"), ("Linux", "Linux"),
)  # fmt: skip


async def lock_account(tx: Database, user_id: int, who: Requester) -> LockedAddress:
    """Locks an account that its person changes, and returns its address.

    Raises AnonymousError when the session in use has ended meanwhile: a new password must be the end of all that was
    begun before it.
    """
    row = await statements.lock_address(tx, user_id)
    if who.session and not await session_statements.is_live(tx, who.session):
        raise _signed_out()
    return row


def _signed_out() -> AnonymousError:
    return AnonymousError("You have been signed out.", code="signed_out", hint="Sign in again.")


class Sessions:
    """Opened at sign-in; found by the token in the cookie, of which only a hash is stored."""

    def __init__(
        self, db: Transactions, new_batcher: BatcherFactory, secrets: Secrets, days: int, max_days: int
    ) -> None:
        self._db, self._secrets, self._days, self._max_days = db, secrets, min(days, max_days), max_days
        # Looked up at each request: a session that ends has ended at once, in every process.
        self._found: Batcher[bytes, SessionAccount | None] = new_batcher(partial(session_statements.find, db))

    async def find(self, session_token: str, *, renew: bool = True) -> tuple[SessionAccount | None, bytes]:
        """The account of a session cookie, or None, and the hash that names the session, which is prolonged by it."""
        session = self._hash(session_token)
        row = await self._found.add(session)
        if row and row["stale"] and renew:
            await session_statements.touch(self._db, session, self._days, self._max_days)
        return row, session

    async def open(self, account: Authenticated, agent: str, who: Requester) -> str:
        """The token of a new session, for a cookie. Raises AnonymousError when the account has a new password since."""
        session_token, agent = token(), agent[:_AGENT]
        hashed = self._hash(session_token)
        if not await session_statements.open_one(self._db, hashed, account, self._days, agent, who.network):
            raise _signed_out()
        return session_token

    async def prove(self, who: Requester) -> None:
        """Notes that the person of the session in use gave the password or a second factor just now."""
        await session_statements.prove(self._db, who.session)

    async def used_by_admin(self, who: Requester) -> None:
        """Notes that the session in use was used below /admin just now."""
        await session_statements.touch_admin(self._db, who.session)

    async def close(self, who: Requester) -> None:
        """Signs out."""
        if who.session:
            await session_statements.close(self._db, who.session)

    async def listed(self, user_id: int, who: Requester) -> list[Values]:
        """The live sessions of a person, the latest first: id, device, created, last_seen, current."""
        rows = await session_statements.of_user(self._db, user_id)
        return [
            {
                "id": row.id,
                "device": device_words(row.agent),
                "created": row.created,
                "last_seen": row.last_seen,
                "current": bytes(row.token_hash) == who.session,
            }
            for row in rows
        ]

    async def end(self, user_id: int, session_id: int) -> bool:
        """Ends one session of a person; False when there is none of that number."""
        return await session_statements.end(self._db, user_id, session_id)

    async def end_all(self, user_id: int) -> int:
        """Signs a person out everywhere; says how many sessions that were."""
        return await session_statements.end_all(self._db, user_id)

    def _hash(self, session_token: str) -> bytes:
        return self._secrets.digest("session", session_token)


def device_words(agent: str) -> str:
    """What a browser calls itself as "Firefox on Linux"; its first word where nothing of it is known."""
    browser = next((name for mark, name in _BROWSERS if mark in agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in agent), "")
    if browser and system:
        return f"{browser} on {system}"
    return browser or system or (re.split(r"[\s/;(]", agent.strip())[0][:40] or "?")
