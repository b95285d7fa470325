"""Uncounted answers that count after the limit per network rose."""

from __future__ import annotations

from crowdd.domain.core.background_queue import Queue
from crowdd.requester import Requester
from crowdd.storage.database import Database
from crowdd.storage.tasks import changes
from crowdd.values import Values

CHUNK = 1000  # tasks of one transaction
HANDLER = "change_tasks"


async def recount(tx: Database, queue: Queue, who: Requester, project_id: int) -> None:
    """Counts uncounted answers that may count since the limit per network rose, at once or by the queue."""
    if (total := await changes.size(tx, project_id)) > CHUNK:
        arguments: Values = {"change": "recount", "values": {}, "task_ids": None, "total": total}
        await queue.add(tx, HANDLER, arguments, who, project_id)
        return
    await changes.apply(tx, "recount", project_id, await changes.next_tasks(tx, project_id, 0, CHUNK))
