"""Makes the file of everything about a person."""

from __future__ import annotations

from crowdd.domain.accounts.personal_data import HANDLER as NAME
from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.server.services import Services
from crowdd.sched.task_handlers import Handler


async def _run(services: Services, item: QueuedTask) -> dict[str, object]:
    return await services.people.personal_data.make(item.arguments["user_id"], item.progress)


HANDLER = Handler(NAME, _run)
