"""Read an address of an import again, and add its new rows."""

from __future__ import annotations

from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.transfer.scheduled.import_sources import HANDLER as READ_SOURCE_TASK
from crowdd.domain.transfer.scheduled.import_sources import Sources
from crowdd.languages import _
from crowdd.sched.handler import Handler


async def _run(sources: Sources, item: QueuedTask) -> dict[str, object]:
    return await sources.read(item)


HANDLER = Handler(
    READ_SOURCE_TASK,
    lambda services, item: _run(services.sources, item),
    title=_("Scheduled import"),
    note=_("New rows are added. Rows that already are tasks are skipped."),
)
