"""Recounts every counter and sets right what differs; there should be nothing, so each difference is told."""

from __future__ import annotations

from twisted.logger import Logger

from crowdd.domain.server.recount import Checking
from crowdd.domain.server.services import Services
from crowdd.sched.schedule import DAY, Job

log = Logger()


async def _check(services: Services) -> str:
    found = 0
    async for difference in Checking(services.db).run(repair=True):
        log.warn("counter corrected: {sentence}", sentence=difference.sentence())
        found += 1 + difference.more
    return f"{found} differences"


JOB = Job("check_counters", DAY, _check)
