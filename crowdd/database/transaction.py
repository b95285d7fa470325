"""An open transaction, and running again what a deadlock, a serialisation failure or an upgrade undid."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from psycopg2 import errors, extensions
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from crowdd.database.access import Row, Statement, Values
from crowdd.database.connection import Connection, row_count, rows
from crowdd.database.errors import is_replaced
from crowdd.kernel.errors import UnavailableError

T = TypeVar("T")

RERUNNABLE = (errors.SerializationFailure, errors.DeadlockDetected)
RERUN_PAUSES = (0.01, 0.03, 0.1)  # seconds, on average

log = Logger()


class Transaction:
    """An open transaction, given to the work of ``Pool.transaction``; one statement at a time, none after the end.

    After a statement failed PostgreSQL refuses all others until a rollback, at least to a SAVEPOINT made before.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._over = False
        self._failure: Exception | None = None

    async def fetch(self, sql: Statement, values: Values = None) -> list[Row]:
        """The rows of a statement; errors as with ``Pool.fetch``, but deadlocks come as psycopg2 raises them."""
        return rows(await self._run(sql, values))

    async def execute(self, sql: Statement, values: Values = None) -> int:
        """How many rows a statement touched; errors as with ``fetch``."""
        return row_count(await self._run(sql, values))

    async def _run(self, sql: Statement, values: Values) -> Any:
        if self._over:
            raise RuntimeError("The transaction is over.")
        try:
            return await self._connection.run(sql, values)
        except Exception as error:
            self._failure = error
            raise

    async def run(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """BEGIN, the work, COMMIT; ROLLBACK if either raised, and the error is raised again."""
        await self._connection.run("BEGIN")
        try:
            result = await work(self)
            await self._commit()
        except Exception:
            await self._roll_back()
            raise
        finally:
            self._over = True
        return result

    async def _commit(self) -> None:
        # COMMIT of a failed transaction is a silent ROLLBACK: work that swallowed the error must not pass for done.
        if self._connection.status == extensions.TRANSACTION_STATUS_INERROR and self._failure is not None:
            raise self._failure
        if self._connection.alive and self._connection.status != extensions.TRANSACTION_STATUS_INTRANS:
            raise RuntimeError("The function ended its transaction itself, or left a statement running.")
        await self._connection.run("COMMIT", commits=True)

    async def _roll_back(self) -> None:
        # If this fails, the connection is not idle afterwards and the pool replaces it: the server then rolls back.
        try:
            if not self._connection.idle:
                await self._connection.run("ROLLBACK")
        except Exception as error:
            log.debug("ROLLBACK failed: {error}", error=error)


async def rerun(clock: IReactorTime, attempt: Callable[[], Awaitable[T]]) -> T:
    """The result of ``attempt``, repeated at most three times while it is undone.

    What undoes it are deadlocks, serialisation failures, and upgrades that replace what it has just looked up.
    """
    # Each time a pause: run again at once, it would take its locks back before the other has got them.
    for pause in RERUN_PAUSES:
        try:
            return await attempt()
        except Exception as error:
            if not _is_undone(error):
                raise
            await deferLater(clock, pause * random.uniform(0.5, 1.5))  # noqa: S311
    try:
        return await attempt()
    except Exception as error:
        if not _is_undone(error):
            raise
        raise UnavailableError("Too many requests change the same rows.", retry_after=1) from error


def _is_undone(error: Exception) -> bool:
    return isinstance(error, RERUNNABLE) or is_replaced(error)
