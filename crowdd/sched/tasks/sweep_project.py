"""Remove the tasks and answers of a deleted project that had many."""

from __future__ import annotations

from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.projects import projects
from crowdd.languages import _
from crowdd.sched.handler import Handler
from crowdd.storage.database import Transactions


async def _run(db: Transactions, item: QueuedTask) -> None:
    await projects.sweep(db, item)


HANDLER = Handler(
    projects.SWEEP,
    lambda services, item: _run(services.db, item),
    title=_("Deletion of a project"),
    note=_("The project is gone from all pages. Its tasks and answers are being removed."),
)
