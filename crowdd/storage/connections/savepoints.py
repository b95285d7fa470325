"""Parts of a transaction that may fail without it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from crowdd.errors import CrowddError
from crowdd.storage.database import Database

T = TypeVar("T")


async def attempt(tx: Database, work: Callable[[], Awaitable[T]], *, keep: bool = True) -> T:
    """The result of ``work``; when it is refused, the transaction is as before and goes on.

    ``keep`` false: it only looks whether the work is refused, and nothing of it stays. Not to be nested.
    """
    await tx.execute("SAVEPOINT attempt")
    try:
        result = await work()
    except CrowddError:
        await tx.execute("ROLLBACK TO SAVEPOINT attempt")
        raise
    await tx.execute("RELEASE SAVEPOINT attempt" if keep else "ROLLBACK TO SAVEPOINT attempt")
    return result
