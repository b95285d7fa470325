"""Takes away what a deleted project with many tasks left."""

from __future__ import annotations

from crowdd.domain.core.background_queue import Item
from crowdd.domain.projects import projects
from crowdd.domain.server.services import Domain
from crowdd.sched.task_handlers import Work


async def _run(domain: Domain, item: Item) -> None:
    await projects.sweep(domain.db, item)


WORK = Work(projects.SWEEP, _run)
