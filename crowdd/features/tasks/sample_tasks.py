"""The sample tasks that came with a template: counted, removed, or kept as tasks like others."""

from __future__ import annotations

from typing import Final

from crowdd.database.access import Transactions
from crowdd.features.tasks import sample_statements
from crowdd.features.tasks.change_bodies import TasksBody
from crowdd.features.tasks.changes import Changes
from crowdd.kernel.requester import Requester

_MAX_AT_ONCE: Final = 500


class SampleTasks:
    """What owners do with sample tasks. Whether somebody is an owner is for the caller to know, but for ``remove``."""

    def __init__(self, db: Transactions, changes: Changes) -> None:
        self._db, self._changes = db, changes

    async def count(self, project_id: int) -> int:
        """How many a project has."""
        return await sample_statements.count_samples(self._db, project_id)

    async def remove(self, who: Requester, project_id: int) -> int:
        """Deletes the sample tasks with their answers; how many. Raises ForbiddenError, NotFoundError."""
        ids = await sample_statements.list_samples(self._db, project_id, _MAX_AT_ONCE)
        if not ids:
            return 0
        return (await self._changes.delete(who, project_id, TasksBody(task_ids=ids))).tasks

    async def keep(self, who: Requester, project_id: int) -> int:
        """Makes them tasks like others; how many. Raises ForbiddenError, NotFoundError."""
        await self._changes.require(self._db, who, project_id)
        return await sample_statements.keep_samples(self._db, project_id)
