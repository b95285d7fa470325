"""Remove imports that ended long ago, and uploads that were never started or never completed."""

from __future__ import annotations

import time

from crowdd.domain.transfer.imports import Imports
from crowdd.domain.transfer.media_batches.batches import Batches
from crowdd.sched.job import HOUR, Job


async def _sweep_imports(imports: Imports, batches: Batches) -> str:
    now = time.time()
    return f"{await imports.sweep(now)} imports and {await batches.sweep(now)} media files removed"


JOB = Job("sweep_imports", HOUR, lambda services: _sweep_imports(services.imports, services.media_batches))
