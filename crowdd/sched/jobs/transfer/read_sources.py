"""Start the reading of addresses that owners have imported again and again, when they are due."""

from __future__ import annotations

from crowdd.domain.transfer.scheduled.import_sources import Sources
from crowdd.sched.job import MINUTE, Job


async def _start(sources: Sources) -> str:
    return f"{await sources.start_due()} started"


JOB = Job("read_sources", MINUTE, lambda services: _start(services.sources))
