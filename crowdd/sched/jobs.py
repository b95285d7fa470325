"""The jobs of a server."""

from __future__ import annotations

from crowdd.sched.clockwork import Job
from crowdd.storage import accounts, contributions, idempotency
from crowdd.storage.database import Database

FOLD_SECONDS = 2
SWEEP_SECONDS = 600


def jobs(db: Database) -> list[Job]:
    """Folding of counters; removal of what has had its time."""
    return [
        Job("fold counters", FOLD_SECONDS, lambda: contributions.fold(db)),
        Job("sweep sessions and links", SWEEP_SECONDS, lambda: accounts.sweep(db)),
        Job("sweep idempotency keys", SWEEP_SECONDS, lambda: idempotency.sweep(db)),
    ]
