"""What came out of a project, for people: finished tasks with the shares of their answers, page by page."""

from __future__ import annotations

import attrs

from crowdd.kinds.result import RESULT
from crowdd.storage.database import Database
from crowdd.storage.projects.rows import ProjectPage
from crowdd.storage.tasks import finished_tasks
from crowdd.storage.tasks.rows import FinishedTask
from crowdd.values import Values

PER_PAGE = 20
_VOTES = 5


@attrs.frozen
class Finished:
    """A page of finished tasks, the newest first; ``next``: before which result the next page begins."""

    tasks: list[Values]
    next: int | None


class FinishedTasks:
    """Finished tasks of projects."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def may_see(self, row: ProjectPage) -> bool:
        """Whether who has this row of ``Projects.page`` may see answers: as in lists of results."""
        return bool(row["roles"] & RESULT.rights.see)

    async def page(self, row: ProjectPage, before: int | None) -> Finished:
        """Those before a result, or the last ones; to be asked for those who may see them."""
        found = await finished_tasks.page(self._db, row["id"], before, PER_PAGE + 1, _VOTES)
        more = len(found) > PER_PAGE
        return Finished([_task(one) for one in found[:PER_PAGE]], found[PER_PAGE - 1]["id"] if more else None)


def _task(row: FinishedTask) -> Values:
    """``share`` of an answer: 0 to 1 of those that count; ``others``: different answers that are not shown."""
    votes = [{**vote, "share": vote["n"] / row["total"]} for vote in row["votes"]]
    return {
        "task_id": row["task_id"],
        "info": row["info"],
        "task_info": row["task_info"],
        "total": row["total"],
        "votes": votes,
        "others": row["kinds"] - len(votes),
    }
