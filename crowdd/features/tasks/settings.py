"""Settings of a project's tasks: adaptive redundancy, the scheduler, and a recount after a higher network limit.

Adaptive redundancy (``info.trust``) completes a task before it has all its answers. A scheduler is changed at once
while a project is small, and by a background task when its tasks are many. Uncounted answers count after the limit per
network rose.
"""

from __future__ import annotations

from functools import partial

import attrs

from crowdd.database.access import Database, Row, Transactions
from crowdd.features.projects import statements as project_statements
from crowdd.features.projects.parts import ProjectPart
from crowdd.features.tasks import change_statements, rows
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.body import Body, key
from crowdd.kinds.stopping import MAX_ANSWERS, MAX_CONFIDENCE, MIN_CONFIDENCE, STOPPING
from crowdd.kinds.types import Boolean, Integer, Number
from crowdd.sched.queue import Queue, QueuedTask

CHUNK = 1000  # tasks of one transaction
RECOUNT_HANDLER_NAME = "change_tasks"


async def recount_answers(tx: Database, queue: Queue, who: Requester, project_id: int) -> None:
    """Counts uncounted answers that may count since the limit per network rose, at once or by the queue."""
    if (total := await change_statements.count_tasks_ever(tx, project_id)) > CHUNK:
        arguments: Values = {"change": "recount", "values": {}, "task_ids": None, "total": total}
        await queue.add(tx, RECOUNT_HANDLER_NAME, arguments, who, project_id)
        return
    await change_statements.apply(
        tx, "recount", project_id, await change_statements.list_next_tasks(tx, project_id, 0, CHUNK)
    )


class StoppingBody(Body):
    """When tasks stop early. Both null: never."""

    min_answers: int | None = key(Integer(minimum=1, maximum=MAX_ANSWERS), default=None, null=True)
    confidence: float | None = key(Number(minimum=MIN_CONFIDENCE, maximum=MAX_CONFIDENCE), default=None, null=True)
    completed: bool = key(Boolean(), "Whether completed tasks follow, too.", default=False)


async def follow_stopping(
    tx: Database, queue: Queue, who: Requester, project_id: int, *, completed: bool
) -> rows.Effect | int:
    """Has all tasks follow what the project says by now, at once or by the queue: the effect, or the piece of work.

    ``completed``: also tasks that are complete.
    """
    values: Values = {"completed": completed}
    if (total := await change_statements.count_tasks_ever(tx, project_id)) > CHUNK:
        arguments: Values = {"change": "stopping", "values": values, "task_ids": None, "total": total}
        return await queue.add(tx, RECOUNT_HANDLER_NAME, arguments, who, project_id)
    ids = await change_statements.list_next_tasks(tx, project_id, 0, CHUNK)
    return await change_statements.apply(tx, "stopping", project_id, ids, values)


SCHEDULER_HANDLER_NAME = "change_scheduler"
AT_ONCE = 5000  # tasks that one transaction may change


async def choose_scheduler(tx: Database, queue: Queue, who: Requester, project_id: int, name: str) -> int | None:
    """Makes a scheduler that of a project, now or soon; until then its tasks come one after the other.

    The item of the queue that does it, None when it is done.
    """
    large = await change_statements.count_tasks_ever(tx, project_id) > AT_ONCE
    if large and await project_statements.scheduler_needs_tasks(tx, project_id, name):
        await change_statements.begin_scheduler(tx, project_id)
        return await queue.add(tx, SCHEDULER_HANDLER_NAME, {}, who, project_id)
    await project_statements.set_scheduler(tx, project_id, name)
    return None


async def carry_on_scheduler(db: Transactions, item: QueuedTask) -> None:
    """Changes the tasks of a large project to the scheduler that its owner wants by now, chunk by chunk.

    Another choice made meanwhile begins from the first task again; its own item then finds nothing left to do.
    """
    project_id = item.project_id
    total = 0 if project_id is None else await change_statements.count_tasks_ever(db, project_id)
    while (
        project_id is not None
        and (wanted := await project_statements.read_wanted_scheduler(db, project_id)) is not None
    ):
        checkpoint = item.checkpoint or {}
        after = checkpoint["last"] if checkpoint.get("sched") == wanted else 0
        if not await db.transaction(
            partial(_step, item=item, project_id=project_id, wanted=wanted, after=after, total=total)
        ):
            return


async def _step(tx: Database, *, item: QueuedTask, project_id: int, wanted: str, after: int, total: int) -> bool:
    """Whether there is more to do."""
    last = await change_statements.convert_tasks(tx, project_id, wanted, after, CHUNK)
    if last is None:
        await project_statements.set_scheduler(tx, project_id, wanted, after)
        return False
    done = 0 if after == 0 else item.done
    await item.progress(min(total, done + CHUNK), total, {"sched": wanted, "last": last}, within=tx)
    return True


@attrs.frozen
class TaskSettingsPart(ProjectPart):
    """What the tasks of a project follow: its scheduler, its limit per network, and when they stop early."""

    queue: Queue

    async def made(self, tx: Database, who: Requester, project_id: int, values: Values) -> None:
        await self._follow(tx, who, project_id, values)

    async def changed(self, tx: Database, who: Requester, row: Row, changes: Values) -> None:
        await self._follow(tx, who, row["id"], changes)
        if "info" in changes and row["info"].get(STOPPING) != changes["info"].get(STOPPING):
            await follow_stopping(tx, self.queue, who, row["id"], completed=False)

    async def _follow(self, tx: Database, who: Requester, project_id: int, values: Values) -> None:
        if await project_statements.touch_project(tx, project_id):
            await recount_answers(tx, self.queue, who, project_id)
        if "info" in values:
            await choose_scheduler(tx, self.queue, who, project_id, values["info"].get("sched") or "default")
