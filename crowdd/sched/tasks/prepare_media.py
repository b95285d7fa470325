"""Make tasks of media files that an owner brings."""

from __future__ import annotations

from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.transfer.media_batches.batches import HANDLER as PREPARE_MEDIA_TASK
from crowdd.domain.transfer.media_batches.batches import Batches
from crowdd.languages import _
from crowdd.sched.handler import Handler


async def _run(batches: Batches, item: QueuedTask) -> dict[str, object]:
    return await batches.carry_on(item)


HANDLER = Handler(
    PREPARE_MEDIA_TASK,
    lambda services, item: _run(services.media_batches, item),
    title=_("Preparation of media"),
    note=_("Each file becomes a task when it has been prepared."),
)
