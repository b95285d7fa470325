"""Writes the letter with a link to a new password, if there is anybody to write to."""

from __future__ import annotations

from crowdd.domain.accounts.authentication.password_reset import WORK as NAME
from crowdd.domain.core.background_queue import Item
from crowdd.domain.server.services import Domain
from crowdd.sched.task_handlers import Work


async def _run(domain: Domain, item: Item) -> None:
    await domain.people.recovery.write(item.arguments["user_id"], item.arguments.get("network", ""))


WORK = Work(NAME, _run)
