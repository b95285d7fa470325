"""Recount every counter, correct the wrong ones and log each correction."""

from __future__ import annotations

from twisted.logger import Logger

from crowdd.domain.server.recount import Checking
from crowdd.sched.job import DAY, Job

log = Logger()


async def _check(checking: Checking) -> str:
    difference_count = 0
    async for difference in checking.run(repair=True):
        log.warn("counter corrected: {sentence}", sentence=difference.sentence())
        difference_count += 1 + difference.more
    return f"{difference_count} differences"


JOB = Job("check_counters", DAY, lambda services: _check(services.checking))
