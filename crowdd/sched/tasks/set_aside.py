"""Sets aside, or brings back, many answers of somebody whom an owner has barred or let in again."""

from __future__ import annotations

from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.server.services import Services
from crowdd.domain.tasks.barring import HANDLER as NAME
from crowdd.sched.task_handlers import Handler


async def _run(services: Services, item: QueuedTask) -> dict[str, object]:
    return await services.barring.carry_on(item)


HANDLER = Handler(NAME, _run)
