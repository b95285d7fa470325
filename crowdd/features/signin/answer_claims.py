"""Answers given in a browser before its person signed up (interface: taskrun-claim)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import groupby

import attrs

from crowdd.core import log_statements
from crowdd.database.access import Transactions
from crowdd.features.accounts import list_statements as account_list_statements
from crowdd.features.accounts.rows import Answered
from crowdd.kernel.requester import Requester
from crowdd.sched.queue import Queue

HANDLER = "claim_answers"
AT_ONCE = 500  # answers that change hands before somebody gets an answer
_MAX_COUNTED = 1000


class AnswerClaims:
    """Puts anonymous answers under an account. Where the account has answered the task itself, they stay anonymous."""

    def __init__(self, db: Transactions, queue: Queue, notify: Callable[[int], None]) -> None:
        self._db, self._queue, self._notify = db, queue, notify

    async def offered(self, volunteer: str, user_id: int | None = None) -> int:
        """How many answers of a browser could be claimed, counted up to 1,000."""
        if not volunteer:
            return 0
        return len(
            await account_list_statements.list_claimable_answers(
                self._db, f"c:{volunteer}", f"u:{user_id or 0}", _MAX_COUNTED
            )
        )

    async def claim(self, user_id: int, volunteer: str, who: Requester) -> int:
        """Moves answers and open questions of a browser to an account; says how many answers that were.

        What is more than AT_ONCE the queue does, soon.
        """
        if not volunteer:
            return 0
        moved = await self._claim_some(user_id, volunteer)
        await self._take_rights(user_id, volunteer)
        by = attrs.evolve(who, user_id=user_id)
        if moved >= AT_ONCE:
            await self._queue.add(self._db, HANDLER, {"user_id": user_id, "volunteer": volunteer}, by)
        if moved:
            await log_statements.write_act(self._db, by, "claim", "user", user_id)
        return moved

    async def claim_all(self, user_id: int, volunteer: str, report: Callable[[int], Awaitable[None]]) -> int:
        """Moves what is left; ``report`` gets the number of answers so far."""
        moved = 0
        while n := await self._claim_some(user_id, volunteer):
            moved += n
            await report(moved)
        return moved

    async def _claim_some(self, user_id: int, volunteer: str) -> int:
        """Moves some answers, a transaction for each project; 0 when none is left."""
        browser, account = f"c:{volunteer}", f"u:{user_id}"
        rows = await account_list_statements.list_claimable_answers(self._db, browser, account, AT_ONCE)
        return sum([await self._move(project_id, tasks, browser, user_id) for project_id, tasks in by_project(rows)])

    async def _move(self, project_id: int, tasks: list[int], browser: str, user_id: int) -> int:
        to = (f"u:{user_id}", user_id, None)
        moved = await account_list_statements.move_answers(self._db, project_id, tasks, (browser, None), to)
        self._notify(project_id)
        return moved

    async def _take_rights(self, user_id: int, volunteer: str) -> None:
        for project_id in await account_list_statements.list_projects_with_rights(self._db, f"c:{volunteer}"):
            await account_list_statements.move_rights(self._db, project_id, f"c:{volunteer}", f"u:{user_id}")


def by_project(rows: list[Answered]) -> list[tuple[int, list[int]]]:
    """Rows that are in the order of their projects: the tasks of each project."""
    return [
        (project_id, [row.task_id for row in some]) for project_id, some in groupby(rows, lambda row: row.project_id)
    ]
