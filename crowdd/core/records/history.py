"""What tasks, answers, results and figures were at a time, for those who run the project."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

import attrs

from crowdd.core.records import history_statements, rights, statements
from crowdd.core.records.history_statements import PastQuery, TaskTime
from crowdd.core.records.records import Records
from crowdd.database.access import Database, Transactions
from crowdd.database.pool import SlowReads
from crowdd.kernel.errors import NOT_FOUND, InvalidRequestError, NotFoundError, NotKeptError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds import KINDS
from crowdd.kinds.roles import OWNERS, Role
from crowdd.kinds.types import iso

T = TypeVar("T")
HISTORIC = ("task", "taskrun", "result", "projectstats")
"""Names of the kinds that have a history."""
MAX_TIMES = 200
MAX_ANSWERS = 100
_TOGETHER = timedelta(seconds=1)


@attrs.frozen
class Asked:
    """What a list of a kind asks for; ``project_id`` or ``task_id`` is there, or both."""

    kind: str
    at: datetime
    project_id: int | None = None
    task_id: int | None = None
    last_version: bool | None = None
    last_id: int = 0
    limit: int = 20


@attrs.frozen
class PastTask:
    """A task at a time, with the first answers that it had then, and its result, if it had one."""

    task: Values
    answers: list[Values]
    result: Values | None


class History:
    """Reads past versions, which may walk over many rows (``slow_reads``).

    ``days``: how long versions are kept, 0: not at all.
    """

    def __init__(self, db: Transactions, records: Records, slow_reads: SlowReads, days: int) -> None:
        self._db, self._records, self._slow_reads, self.days = db, records, slow_reads, days

    async def rows(self, who: Requester, asked: Asked) -> list[Values]:
        """Rows of a project as they were.

        Raises NotFoundError, AnonymousError, ForbiddenError, InvalidRequestError, NotKeptError.
        """

        async def select(tx: Database) -> list[Values]:
            project_id = asked.project_id
            if project_id is None and asked.task_id is not None:
                project_id = await history_statements.find_project_id(tx, "task", asked.task_id)
            have = await self._allowed(tx, who, project_id, asked.at)
            query = PastQuery(
                asked.kind,
                asked.at,
                project_id or 0,
                task_id=asked.task_id,
                last_version=asked.last_version,
                last_id=asked.last_id,
                limit=asked.limit,
            )
            return await self._views(tx, query, have)

        return await self._in_turn(who, select)

    async def get(self, kind: str, who: Requester, row_id: int, at: datetime) -> Values:
        """One row as it was. Raises as ``rows``; NotFoundError also if it did not exist then."""

        async def select(tx: Database) -> list[Values]:
            project_id = await history_statements.find_project_id(tx, kind, row_id)
            have = await self._allowed(tx, who, project_id, at)
            return await self._views(tx, PastQuery(kind, at, project_id or 0, row_id=row_id), have)

        return _only(await self._in_turn(who, select))

    async def times(self, who: Requester, project_id: int, task_id: int) -> tuple[list[TaskTime], bool]:
        """When a task, its answers and its result changed, the latest first, and whether there may be earlier times."""

        async def select(tx: Database) -> tuple[list[TaskTime], bool]:
            retention = await history_statements.read_history_start(tx, self.days) if self.days else None
            if retention is None or retention["since"] is None:
                return [], False
            times = await history_statements.list_task_times(tx, project_id, task_id, retention["since"], MAX_TIMES)
            return together(times), len(times) == MAX_TIMES

        return await self._in_turn(who, select)

    async def exists(self, project_id: int, task_id: int) -> bool:
        """Whether a task is one of the project, or was one whose versions are kept."""
        return await history_statements.find_project_id(self._db, "task", task_id) == project_id

    async def task(self, who: Requester, project_id: int, task_id: int, at: datetime) -> PastTask:
        """A task as it was, with its answers and its result. Raises as ``get``."""

        async def select(tx: Database) -> PastTask:
            have = await self._allowed(tx, who, project_id, at)
            task = _only(await self._views(tx, PastQuery("task", at, project_id, row_id=task_id), have))
            answers = PastQuery("taskrun", at, project_id, task_id=task_id, limit=MAX_ANSWERS)
            results = PastQuery("result", at, project_id, task_id=task_id, last_version=True)
            result_views = await self._views(tx, results, have)
            return PastTask(task, await self._views(tx, answers, have), result_views[-1] if result_views else None)

        return await self._in_turn(who, select)

    async def _allowed(self, tx: Database, who: Requester, project_id: int | None, at: datetime) -> frozenset[Role]:
        """The requester's roles to a project that they run, if its past at that time is known."""
        have = await statements.roles_to_project(tx, project_id, who) if project_id is not None else None
        if have is None or not have & (OWNERS | {Role.REACHABLE}):
            raise NotFoundError(NOT_FOUND)
        rights.require(who, have, OWNERS)
        retention = (
            await history_statements.read_history_start(tx, self.days) if self.days else {"now": None, "since": None}
        )
        if retention["now"] is not None and at > retention["now"]:
            raise InvalidRequestError(_("`at` must not be in the future."))
        if retention["since"] is None:
            raise NotKeptError(_("This server keeps no earlier versions."))
        if at < retention["since"]:
            raise NotKeptError(_("Earlier versions are kept from %(time)s on (UTC).", time=iso(retention["since"])))
        return have

    async def _views(self, tx: Database, query: PastQuery, have: frozenset[Role]) -> list[Values]:
        kind = KINDS[query.kind]
        return [
            self._records.view(kind, {**row, "roles": have}) for row in await history_statements.select_rows(tx, query)
        ]

    async def _in_turn(self, who: Requester, select: Callable[[Database], Awaitable[T]]) -> T:
        return await self._slow_reads.run(who.network, select, stranger=False)

    async def sweep(self) -> int:
        """Follows the setting, and deletes versions that were kept long enough; how many there were."""
        await history_statements.set_retention(self._db, self.days)
        deleted = 0
        while some := await history_statements.prune_versions(self._db, self.days):
            deleted += some
        return deleted


def together(times: Sequence[TaskTime]) -> list[TaskTime]:
    """The times, the latest first, with those of one second as one: a request changes rows one after the other."""
    merged: list[TaskTime] = []
    for time in times:
        if merged and merged[-1]["at"] - time["at"] < _TOGETHER:
            merged[-1] = {"at": merged[-1]["at"], "what": sorted({*merged[-1]["what"], *time["what"]})}
        else:
            merged.append(time)
    return merged


def _only(views: list[Values]) -> Values:
    if not views:
        raise NotFoundError(NOT_FOUND, hint="It did not exist at that time.")
    return views[0]
