"""Changes of more tasks than one transaction should hold: redundancy, priority, deletion, withdrawn answers."""

from __future__ import annotations

from crowdd.domain.core.background_queue import Item
from crowdd.domain.projects import answer_recount
from crowdd.domain.server.services import Domain
from crowdd.sched.task_handlers import Work


async def _run(domain: Domain, item: Item) -> dict[str, object]:
    return await domain.changes.carry_on(item)


WORK = Work(answer_recount.WORK, _run)
