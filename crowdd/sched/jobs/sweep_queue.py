"""Removes items of the queue whose time is over, and ends those that no server knows how to do."""

from __future__ import annotations

from crowdd.domain.server.services import Services
from crowdd.sched.schedule import HOUR, Job
from crowdd.sched.task_handlers import handlers

UNKNOWN_HOURS = 24


async def _sweep(services: Services) -> str:
    dead = await services.queue.dead_letter_unknown(handlers().keys(), UNKNOWN_HOURS)
    return f"{await services.queue.sweep()} removed, {dead} unknown"


JOB = Job("sweep_queue", HOUR, _sweep)
