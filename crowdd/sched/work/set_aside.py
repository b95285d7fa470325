"""Sets aside, or brings back, many answers of somebody whom an owner has barred or let in again."""

from __future__ import annotations

from crowdd.domain.barring import WORK as NAME
from crowdd.domain.domain import Domain
from crowdd.domain.queue import Item
from crowdd.sched.works import Work


async def _run(domain: Domain, item: Item) -> dict[str, object]:
    return await domain.barring.carry_on(item)


WORK = Work(NAME, _run)
