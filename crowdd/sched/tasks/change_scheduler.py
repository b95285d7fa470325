"""A project with many tasks gets another scheduler."""

from __future__ import annotations

from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.projects import schedulers
from crowdd.domain.server.services import Services
from crowdd.sched.task_handlers import Handler


async def _run(services: Services, item: QueuedTask) -> None:
    await schedulers.carry_on(services.db, item)


HANDLER = Handler(schedulers.HANDLER, _run)
