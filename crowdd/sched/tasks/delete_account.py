"""Carries out somebody's farewell."""

from __future__ import annotations

from crowdd.domain.accounts.account_deletion import WORK as NAME
from crowdd.domain.core.background_queue import Item
from crowdd.domain.server.services import Domain
from crowdd.sched.task_handlers import Work


async def _run(domain: Domain, item: Item) -> dict[str, object]:
    return {"answers": await domain.people.farewell.carry_out(item.arguments["user_id"], item.progress)}


WORK = Work(NAME, _run, max_attempts=20)
