"""Takes away what a deleted project with many tasks left."""

from __future__ import annotations

from crowdd.domain import projects
from crowdd.domain.domain import Domain
from crowdd.domain.queue import Item
from crowdd.sched.works import Work


async def _run(domain: Domain, item: Item) -> None:
    await projects.sweep(domain.db, item)


WORK = Work(projects.SWEEP, _run)
