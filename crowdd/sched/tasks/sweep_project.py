"""Takes away what a deleted project with many tasks left."""

from __future__ import annotations

from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.projects import projects
from crowdd.domain.server.services import Services
from crowdd.sched.task_handlers import Handler


async def _run(services: Services, item: QueuedTask) -> None:
    await projects.sweep(services.db, item)


HANDLER = Handler(projects.SWEEP, _run)
