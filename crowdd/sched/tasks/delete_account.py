"""Deletes an account."""

from __future__ import annotations

from crowdd.domain.accounts.account_deletion import HANDLER as NAME
from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.server.services import Services
from crowdd.sched.task_handlers import Handler


async def _run(services: Services, item: QueuedTask) -> dict[str, object]:
    return {"answers": await services.people.account_deletion.carry_out(item.arguments["user_id"], item.progress)}


HANDLER = Handler(NAME, _run, max_attempts=20)
