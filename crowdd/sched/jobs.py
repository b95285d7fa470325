"""The jobs of a server."""

from __future__ import annotations

from twisted.logger import Logger

from crowdd.domain.check import Checking
from crowdd.sched.clockwork import Job
from crowdd.storage import accounts, idempotency, statistics
from crowdd.storage.database import Transactions

log = Logger()

FOLD_SECONDS = 2
SWEEP_SECONDS = 600
CHECK_SECONDS = 86400


def jobs(db: Transactions) -> list[Job]:
    """Folding and checking of counters; removal of what has had its time."""
    return [
        Job("fold counters", FOLD_SECONDS, lambda: statistics.fold(db)),
        Job("check counters", CHECK_SECONDS, lambda: check_counters(db)),
        Job("sweep sessions and links", SWEEP_SECONDS, lambda: accounts.sweep(db)),
        Job("sweep idempotency keys", SWEEP_SECONDS, lambda: idempotency.sweep(db)),
    ]


async def check_counters(db: Transactions) -> None:
    """Sets counters right that are not what the rows say; there should be none, so each is told."""
    async for difference in Checking(db).run(repair=True):
        log.warn("A counter was wrong: {sentence}", sentence=difference.sentence())
