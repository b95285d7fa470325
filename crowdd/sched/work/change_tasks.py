"""Changes of more tasks than one transaction should hold: redundancy, priority, deletion, withdrawn answers."""

from __future__ import annotations

from crowdd.domain import changes
from crowdd.domain.domain import Domain
from crowdd.domain.queue import Item
from crowdd.sched.works import Work


async def _run(domain: Domain, item: Item) -> dict[str, object]:
    return await domain.changes.carry_on(item)


WORK = Work(changes.WORK, _run)
