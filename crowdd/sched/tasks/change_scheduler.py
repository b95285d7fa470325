"""A project with many tasks gets another scheduler."""

from __future__ import annotations

from crowdd.domain.core.background_queue import Item
from crowdd.domain.projects import schedulers
from crowdd.domain.server.services import Domain
from crowdd.sched.task_handlers import Work


async def _run(domain: Domain, item: Item) -> None:
    await schedulers.carry_on(domain.db, item)


WORK = Work(schedulers.WORK, _run)
