"""Start the snapshots that are due by the schedules of projects."""

from __future__ import annotations

from crowdd.domain.transfer.snapshots.snapshots import Snapshots
from crowdd.sched.job import HOUR, Job


async def _start(snapshots: Snapshots) -> str:
    return f"{await snapshots.start_due()} started"


JOB = Job("start_snapshots", HOUR, lambda services: _start(services.snapshots))
