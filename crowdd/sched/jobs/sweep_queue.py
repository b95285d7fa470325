"""Remove old background tasks, and end those that no worker has a handler for."""

from __future__ import annotations

from crowdd.domain.core.background_queue import Queue
from crowdd.sched.job import HOUR, Job
from crowdd.sched.task_handlers import handlers

UNKNOWN_HOURS = 24


async def _sweep_queue(queue: Queue) -> str:
    dead = await queue.dead_letter_unknown(handlers().keys(), UNKNOWN_HOURS)
    return f"{await queue.sweep()} removed, {dead} unknown"


JOB = Job("sweep_queue", HOUR, lambda services: _sweep_queue(services.queue))
