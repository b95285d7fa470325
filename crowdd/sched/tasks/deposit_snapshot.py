"""Deposit a snapshot of a project in a repository."""

from __future__ import annotations

from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.transfer.deposits.deposits import HANDLER as DEPOSIT_SNAPSHOT_TASK
from crowdd.domain.transfer.deposits.deposits import Deposits
from crowdd.languages import _
from crowdd.sched.handler import Handler


async def _run(deposits: Deposits, item: QueuedTask) -> dict[str, object]:
    return await deposits.carry_out(item)


HANDLER = Handler(
    DEPOSIT_SNAPSHOT_TASK,
    lambda services, item: _run(services.deposits, item),
    title=_("Deposit of a snapshot"),
    note=_("Files that are in the repository already are not sent again."),
    stall_seconds=86_400.0,  # one progress for each file, which may be large
)
