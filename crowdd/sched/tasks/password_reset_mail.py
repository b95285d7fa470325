"""Writes the letter with a link to a new password, if there is anybody to write to."""

from __future__ import annotations

from crowdd.domain.accounts.authentication.password_reset import HANDLER as NAME
from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.server.services import Services
from crowdd.sched.task_handlers import Handler


async def _run(services: Services, item: QueuedTask) -> None:
    await services.people.recovery.write(item.arguments["user_id"], item.arguments.get("network", ""))


HANDLER = Handler(NAME, _run)
