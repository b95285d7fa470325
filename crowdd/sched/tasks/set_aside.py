"""Sets aside, or brings back, many answers of somebody whom an owner has barred or let in again."""

from __future__ import annotations

from crowdd.domain.core.background_queue import Item
from crowdd.domain.server.services import Domain
from crowdd.domain.tasks.barring import WORK as NAME
from crowdd.sched.task_handlers import Work


async def _run(domain: Domain, item: Item) -> dict[str, object]:
    return await domain.barring.carry_on(item)


WORK = Work(NAME, _run)
