"""Removes items of the queue whose time is over, and ends those that no server knows how to do."""

from __future__ import annotations

from crowdd.domain.server.services import Domain
from crowdd.sched.schedule import HOUR, Job
from crowdd.sched.task_handlers import works

UNKNOWN_HOURS = 24


async def _sweep(domain: Domain) -> str:
    dead = await domain.queue.bury_unknown(works().keys(), UNKNOWN_HOURS)
    return f"{await domain.queue.sweep()} removed, {dead} unknown"


JOB = Job("sweep_queue", HOUR, _sweep)
