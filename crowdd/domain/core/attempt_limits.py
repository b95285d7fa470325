"""Limits on what may not be repeated at will: guesses, e-mails, sign-ups."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import attrs

from crowdd.domain.core.secrets import Secrets
from crowdd.errors import TooManyRequestsError, UnavailableError
from crowdd.languages import ngettext
from crowdd.storage.core import login_failures
from crowdd.storage.database import Transactions

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
        wait = await login_failures.count(self._db, subjects, allowed, minutes)
        if wait:
            raise TooManyRequestsError(_words(wait), retry_after=wait, code="too_many_attempts")

    async def refund(self, *limits: Limit) -> None:
        """Uncounts an attempt that turned out to be none."""
        await login_failures.refund(self._db, [self._hidden(limit.subject) for limit in limits])

    async def succeeded(self, first: Limit, *others: Limit) -> None:
        """Takes an attempt back; the first subject starts over."""
        hidden = [self._hidden(limit.subject) for limit in others]
        await login_failures.refund(self._db, hidden, [self._hidden(first.subject)])

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
