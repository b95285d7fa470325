"""Change the scheduler of a project that has many tasks."""

from __future__ import annotations

from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.projects import schedulers
from crowdd.languages import _
from crowdd.sched.handler import Handler
from crowdd.storage.database import Transactions


async def _run(db: Transactions, item: QueuedTask) -> None:
    await schedulers.carry_on(db, item)


HANDLER = Handler(
    schedulers.HANDLER,
    lambda services, item: _run(services.db, item),
    title=_("New order of tasks"),
    note=_("Until the new order is ready, volunteers get one task after the other."),
)
