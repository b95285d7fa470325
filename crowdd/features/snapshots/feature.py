"""Snapshots of projects: made, compared, verified, and deposited in repositories."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.exports.feature import ExportsFeature
from crowdd.features.media.feature import MediaFeature
from crowdd.features.snapshots.deposits import HANDLER as DEPOSIT_SNAPSHOT_TASK
from crowdd.features.snapshots.deposits import Deposits
from crowdd.features.snapshots.differences import Differences
from crowdd.features.snapshots.runner import SnapshotRunner
from crowdd.features.snapshots.snapshots import HANDLER as MAKE_SNAPSHOT_TASK
from crowdd.features.snapshots.snapshots import Snapshots
from crowdd.kernel.languages import _
from crowdd.sched.feature import Scheduling
from crowdd.sched.job import HOUR, Handler, Job
from crowdd.sched.queue import QueuedTask


@attrs.frozen
class SnapshotsFeature(Feature):
    """Projects as they were at one moment."""

    snapshots: Snapshots
    deposits: Deposits

    @classmethod
    def build(
        cls, base: Base, scheduling: Scheduling, media: MediaFeature, exports: ExportsFeature
    ) -> SnapshotsFeature:
        db, queue, data, thread = base.db, scheduling.queue, base.settings.data, base.worker_thread
        resources, store = exports.resources, media.media_store
        runner = SnapshotRunner(
            db,
            resources,
            thread.another(),
            store,
            media.media_names,
            base.quota,
            base.audit_chain.head,
            base.site.name,
            base.base_url,
            data.dir / "snapshots",
            data.min_free_bytes,
        )
        differences = Differences(store, thread.another(), data.dir / "differences", data.min_free_bytes)
        snapshots = Snapshots(db, queue, exports.exports, resources, store, runner, differences)
        deposits = Deposits(db, queue, snapshots, store, base.outgoing, base.secrets, base.base_url)
        return cls(snapshots, deposits)


async def _deposit_snapshot(deposits: Deposits, item: QueuedTask) -> dict[str, object]:
    return await deposits.carry_out(item)


# Deposit a snapshot of a project in a repository.
DEPOSIT_SNAPSHOT_HANDLER = Handler(
    DEPOSIT_SNAPSHOT_TASK,
    lambda house, item: _deposit_snapshot(house[SnapshotsFeature].deposits, item),
    title=_("Deposit of a snapshot"),
    note=_("Files that are in the repository already are not sent again."),
    stall_seconds=86_400.0,  # one progress for each file, which may be large
)


async def _make_snapshot(snapshots: Snapshots, item: QueuedTask) -> dict[str, object]:
    return await snapshots.carry_out(item)


# Make a snapshot of a project.
MAKE_SNAPSHOT_HANDLER = Handler(
    MAKE_SNAPSHOT_TASK,
    lambda house, item: _make_snapshot(house[SnapshotsFeature].snapshots, item),
    title=_("Snapshot of a project"),
    note=_("Volunteers can answer in the meantime. The snapshot shows the moment at which it began."),
)


async def _start(snapshots: Snapshots) -> str:
    return f"{await snapshots.start_due()} started"


# Start the snapshots that are due by the schedules of projects.
JOB = Job("start_snapshots", HOUR, lambda house: _start(house[SnapshotsFeature].snapshots))
