"""Reads the file of an import against its project, for its owner to see what would become of the rows."""

from __future__ import annotations

from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.server.services import Services
from crowdd.domain.transfer import imports
from crowdd.sched.task_handlers import Handler


async def _run(services: Services, item: QueuedTask) -> dict[str, object]:
    return await services.imports.carry_on(item)


HANDLER = Handler(imports.CHECK, _run)
