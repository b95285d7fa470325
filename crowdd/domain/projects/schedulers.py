"""How a project chooses tasks: changed at once while it is small, by the queue when its tasks are many."""

from __future__ import annotations

from functools import partial

from crowdd.domain.core.background_queue import Queue, QueuedTask
from crowdd.requester import Requester
from crowdd.storage.database import Database, Transactions
from crowdd.storage.projects import projects
from crowdd.storage.tasks import changes

HANDLER = "change_scheduler"
AT_ONCE = 5000  # tasks that one transaction may change
CHUNK = 1000


async def choose(tx: Database, queue: Queue, who: Requester, project_id: int, name: str) -> int | None:
    """Makes a scheduler that of a project, now or soon; until then its tasks come one after the other.

    The item of the queue that does it, None when it is done.
    """
    large = await changes.size(tx, project_id) > AT_ONCE
    if large and await projects.scheduler_needs_tasks(tx, project_id, name):
        await changes.begin_scheduler(tx, project_id)
        return await queue.add(tx, HANDLER, {}, who, project_id)
    await projects.set_scheduler(tx, project_id, name)
    return None


async def carry_on(db: Transactions, item: QueuedTask) -> None:
    """Changes the tasks of a large project to the scheduler that its owner wants by now, chunk by chunk.

    Another choice made meanwhile begins from the first task again; its own item then finds nothing left to do.
    """
    project_id = item.project_id
    total = 0 if project_id is None else await changes.size(db, project_id)
    while project_id is not None and (wanted := await projects.scheduler_wanted(db, project_id)) is not None:
        checkpoint = item.checkpoint or {}
        after = checkpoint["last"] if checkpoint.get("sched") == wanted else 0
        if not await db.transaction(
            partial(_step, item=item, project_id=project_id, wanted=wanted, after=after, total=total)
        ):
            return


async def _step(tx: Database, *, item: QueuedTask, project_id: int, wanted: str, after: int, total: int) -> bool:
    """Whether there is more to do."""
    last = await changes.convert_tasks(tx, project_id, wanted, after, CHUNK)
    if last is None:
        await projects.set_scheduler(tx, project_id, wanted, after)
        return False
    done = 0 if after == 0 else item.done
    await item.progress(min(total, done + CHUNK), total, {"sched": wanted, "last": last}, within=tx)
    return True
