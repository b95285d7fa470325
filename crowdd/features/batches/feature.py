"""The background task that prepares uploaded media, and the job that removes old imports and uploads."""

from __future__ import annotations

import time

from crowdd.features.batches.batches import HANDLER as PREPARE_MEDIA_TASK
from crowdd.features.batches.batches import Batches
from crowdd.features.imports.imports import Imports
from crowdd.kernel.languages import _
from crowdd.sched.job import HOUR, Handler, Job
from crowdd.sched.queue import QueuedTask


async def _run(batches: Batches, item: QueuedTask) -> dict[str, object]:
    return await batches.carry_on(item)


# Make tasks of media files that an owner brings.
HANDLER = Handler(
    PREPARE_MEDIA_TASK,
    lambda services, item: _run(services.media_batches, item),
    title=_("Preparation of media"),
    note=_("Each file becomes a task when it has been prepared."),
)


async def _sweep_imports(imports: Imports, batches: Batches) -> str:
    now = time.time()
    return f"{await imports.sweep(now)} imports and {await batches.sweep(now)} media files removed"


# Remove imports that ended long ago, and uploads that were never started or never completed.
JOB = Job("sweep_imports", HOUR, lambda services: _sweep_imports(services.imports, services.media_batches))
