"""Remove imports that ended long ago, and uploads that were never started."""

from __future__ import annotations

import time

from crowdd.domain.transfer.imports import Imports
from crowdd.sched.job import HOUR, Job


async def _sweep(imports: Imports) -> str:
    return f"{await imports.sweep(time.time())} removed"


JOB = Job("sweep_imports", HOUR, lambda services: _sweep(services.imports))
