"""Make a snapshot of a project."""

from __future__ import annotations

from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.transfer.snapshots.snapshots import HANDLER as MAKE_SNAPSHOT_TASK
from crowdd.domain.transfer.snapshots.snapshots import Snapshots
from crowdd.languages import _
from crowdd.sched.handler import Handler


async def _run(snapshots: Snapshots, item: QueuedTask) -> dict[str, object]:
    return await snapshots.carry_out(item)


HANDLER = Handler(
    MAKE_SNAPSHOT_TASK,
    lambda services, item: _run(services.snapshots, item),
    title=_("Snapshot of a project"),
    note=_("Volunteers can answer in the meantime. The snapshot shows the moment at which it began."),
)
