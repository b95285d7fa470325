"""Makes tasks of the rows of a file."""

from __future__ import annotations

from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.server.services import Services
from crowdd.domain.transfer import imports
from crowdd.sched.task_handlers import Handler


async def _run(services: Services, item: QueuedTask) -> dict[str, object]:
    return await services.imports.carry_on(item)


HANDLER = Handler(imports.HANDLER, _run)
