"""Follow the setting of how long earlier versions are kept, and delete those that were kept long enough."""

from __future__ import annotations

from crowdd.domain.tasks.history import History
from crowdd.sched.job import HOUR, Job


async def _sweep_history(history: History) -> str:
    return f"{await history.sweep()} versions deleted"


JOB = Job("sweep_history", HOUR, lambda services: _sweep_history(services.history))
