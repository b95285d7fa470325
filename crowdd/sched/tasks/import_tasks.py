"""Create tasks from the rows of a file."""

from __future__ import annotations

from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.transfer.imports import HANDLER as IMPORT_TASKS_TASK
from crowdd.domain.transfer.imports import Imports
from crowdd.languages import _
from crowdd.sched.handler import Handler


async def _run(imports: Imports, item: QueuedTask) -> dict[str, object]:
    return await imports.carry_on(item)


HANDLER = Handler(
    IMPORT_TASKS_TASK,
    lambda services, item: _run(services.imports, item),
    title=_("Import of tasks"),
    note=_("Rows are added in the order of the file."),
)
