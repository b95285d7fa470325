"""Read the file of an import and show its owner which tasks the rows would become."""

from __future__ import annotations

from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.transfer.imports import CHECK as CHECK_IMPORT_TASK
from crowdd.domain.transfer.imports import Imports
from crowdd.languages import _
from crowdd.sched.handler import Handler


async def _run(imports: Imports, item: QueuedTask) -> dict[str, object]:
    return await imports.carry_on(item)


HANDLER = Handler(
    CHECK_IMPORT_TASK,
    lambda services, item: _run(services.imports, item),
    title=_("Preview of an import"),
    note=_("The file is being read. Nothing is imported before you confirm."),
)
