"""A project with many tasks gets another scheduler."""

from __future__ import annotations

from crowdd.domain import schedulers
from crowdd.domain.domain import Domain
from crowdd.domain.queue import Item
from crowdd.sched.works import Work


async def _run(domain: Domain, item: Item) -> None:
    await schedulers.carry_on(domain.db, item)


WORK = Work(schedulers.WORK, _run)
