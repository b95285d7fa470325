"""The background tasks and the job of snapshots: make one, deposit one in a repository, start those that are due."""

from __future__ import annotations

from crowdd.features.snapshots.deposits import HANDLER as DEPOSIT_SNAPSHOT_TASK
from crowdd.features.snapshots.deposits import Deposits
from crowdd.features.snapshots.snapshots import HANDLER as MAKE_SNAPSHOT_TASK
from crowdd.features.snapshots.snapshots import Snapshots
from crowdd.kernel.languages import _
from crowdd.sched.job import HOUR, Handler, Job
from crowdd.sched.queue import QueuedTask


async def _deposit_snapshot(deposits: Deposits, item: QueuedTask) -> dict[str, object]:
    return await deposits.carry_out(item)


# Deposit a snapshot of a project in a repository.
DEPOSIT_SNAPSHOT_HANDLER = Handler(
    DEPOSIT_SNAPSHOT_TASK,
    lambda services, item: _deposit_snapshot(services.deposits, item),
    title=_("Deposit of a snapshot"),
    note=_("Files that are in the repository already are not sent again."),
    stall_seconds=86_400.0,  # one progress for each file, which may be large
)


async def _make_snapshot(snapshots: Snapshots, item: QueuedTask) -> dict[str, object]:
    return await snapshots.carry_out(item)


# Make a snapshot of a project.
MAKE_SNAPSHOT_HANDLER = Handler(
    MAKE_SNAPSHOT_TASK,
    lambda services, item: _make_snapshot(services.snapshots, item),
    title=_("Snapshot of a project"),
    note=_("Volunteers can answer in the meantime. The snapshot shows the moment at which it began."),
)


async def _start(snapshots: Snapshots) -> str:
    return f"{await snapshots.start_due()} started"


# Start the snapshots that are due by the schedules of projects.
JOB = Job("start_snapshots", HOUR, lambda services: _start(services.snapshots))
