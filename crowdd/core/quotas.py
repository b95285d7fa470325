"""Limits of accounts and requests: quotas, attempts per time, and idempotency keys.

A quota limits what the projects of an account hold together: projects, tasks, and bytes of files and answers. Attempts
are guesses, e-mails and sign-ups. A request that repeats an Idempotency-Key takes effect once.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable
from typing import Final

import attrs

from crowdd.core import statements
from crowdd.core.secrets import Secrets
from crowdd.core.site import Site
from crowdd.database.access import Database, Transactions
from crowdd.kernel.config.limits import QuotaSettings
from crowdd.kernel.errors import (
    ForbiddenError,
    IdempotencyError,
    InvalidValueError,
    TooManyRequestsError,
    UnavailableError,
)
from crowdd.kernel.languages import _, ngettext
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values

LARGE_ANSWER: Final = 16_000
"""Bytes. Smaller answers are always taken: volunteers cannot help it that an owner's account is full."""


class Quota:
    """Refuses what goes beyond the limits. Administrators, and programs at the command line, are not refused."""

    def __init__(self, limits: QuotaSettings, site: Site) -> None:
        self._limits, self._site = limits, site

    async def usage(self, db: Database, user_id: int) -> dict[str, dict[str, int]]:
        """``used`` and ``max`` (0: no limit) of projects, tasks and bytes."""
        used = await statements.read_usage(db, user_id)
        counts = {"projects": used.projects, "tasks": used.tasks, "bytes": used.bytes}
        return {name: {"used": count, "max": self._max(name)} for name, count in counts.items()}

    async def require(self, tx: Database, who: Requester) -> None:
        """To be called at the end of a transaction: raises ForbiddenError when it adds too much to an account."""
        limits = self._limits
        if _exempt(who) or not (limits.max_tasks or limits.max_bytes):
            return
        over = await statements.find_exceeded_limit(tx, limits.max_tasks, limits.max_bytes)
        if over is not None:
            raise self._refusal(over.what, over.used)

    async def require_project(self, tx: Database, who: Requester, owner_id: int) -> None:
        """The same for the number of projects, once a new one is there."""
        maximum = self._site.max_projects
        if _exempt(who) or not maximum:
            return
        count = await statements.count_projects_with_new(tx, owner_id)
        if count > maximum:
            raise self._refusal("projects", count)

    async def require_room(self, db: Database, project_id: int) -> None:
        """Raises ForbiddenError when the owner of a project has no bytes left: for large answers."""
        maximum = self._limits.max_bytes
        if maximum and (used := await statements.sum_bytes_of_owner(db, project_id)) >= maximum:
            raise self._refusal("bytes", used)

    def _max(self, what: str) -> int:
        limit: int = self._site.max_projects if what == "projects" else getattr(self._limits, f"max_{what}")
        return limit

    def _refusal(self, what: str, used: int) -> ForbiddenError:
        maximum = self._max(what)
        values: Values = {"maximum": f"{maximum:,}", "count": f"{used:,}"}
        if what == "projects":
            words = _("An account may own %(maximum)s projects (this would be %(count)s).", **values)
        elif what == "tasks":
            words = _("The projects of an account may have %(maximum)s tasks (these would be %(count)s).", **values)
        else:
            values = {"maximum": f"{maximum // 1_000_000:,}", "count": f"{-(-used // 1_000_000):,}"}
            words = _("The projects of an account may hold %(maximum)s MB (these would be %(count)s MB).", **values)
        return ForbiddenError(words, code="quota_exceeded", hint="Delete something, or ask the operator for more.")


def _exempt(who: Requester) -> bool:
    return who.acting_admin or who.via == "cli"


WINDOW_MINUTES = 15
HOUR_MINUTES = 60
NETWORK_FACTOR = 10  # a network may try this many times more often than it may try one account


@attrs.frozen
class Limit:
    """At most ``allowed`` attempts at a subject within ``minutes``."""

    subject: str
    allowed: int
    minutes: int = WINDOW_MINUTES


class Attempts:
    """Counts before something is tried, under keyed hashes: what was tried is stored nowhere."""

    def __init__(self, db: Transactions, secrets: Secrets) -> None:
        self._db, self._secrets = db, secrets

    async def count(self, *limits: Limit) -> None:
        """Counts an attempt at each subject. Raises TooManyRequestsError, and counts nothing, when one is used up."""
        subjects = [self._hidden(limit.subject) for limit in limits]
        allowed, minutes = [limit.allowed for limit in limits], [limit.minutes for limit in limits]
        wait = await statements.count_attempt(self._db, subjects, allowed, minutes)
        if wait:
            raise TooManyRequestsError(_words(wait), retry_after=wait, code="too_many_attempts")

    async def refund(self, *limits: Limit) -> None:
        """Uncounts an attempt that turned out to be none."""
        await statements.refund_attempts(self._db, [self._hidden(limit.subject) for limit in limits])

    async def succeeded(self, first: Limit, *others: Limit) -> None:
        """Takes an attempt back; the first subject starts over."""
        hidden = [self._hidden(limit.subject) for limit in others]
        await statements.refund_attempts(self._db, hidden, [self._hidden(first.subject)])

    async def guess(self, check: Callable[[], Awaitable[bool]], *limits: Limit) -> bool:
        """Counts, checks, and takes back what was right (the first subject starts over) or could not be checked.

        Raises TooManyRequestsError before anything is checked.
        """
        await self.count(*limits)
        try:
            right = await check()
        except UnavailableError:
            await self.refund(*limits)
            raise
        if right:
            await self.succeeded(*limits)
        return right

    def _hidden(self, subject: str) -> str:
        return self._secrets.digest("attempt", subject).hex()


def _words(wait: int) -> str:
    minutes = -(-wait // 60)
    return ngettext(
        "Too many attempts. Try again in %(num)s minute.", "Too many attempts. Try again in %(num)s minutes.", minutes
    )


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
        row = await statements.claim_idempotency_key(tx, self.caller, self.path, self.key, self.body_hash)
        if row is None:
            return None
        if not hmac.compare_digest(bytes(row.body_hash), self.body_hash):
            hint = "Use a new key for a new request."
            raise IdempotencyError("This Idempotency-Key was used with another body.", hint=hint)
        return list(row.ids)

    async def keep(self, tx: Database, ids: list[int]) -> None:
        """Remembers what this request made, in the transaction that made it."""
        await statements.store_created_ids(tx, self.caller, self.path, self.key, ids)


def parse_idempotency_key(caller: str, path: str, key: str, body: bytes) -> Once | None:
    """For a request with a key; None without. InvalidValueError for a key that is too long or no plain text."""
    if not key:
        return None
    if len(key) > MAX_KEY_LENGTH or not key.isprintable():
        raise InvalidValueError(f"Idempotency-Key has at most {MAX_KEY_LENGTH} printable characters.")
    return Once(caller, path, key, hashlib.sha256(body).digest())
