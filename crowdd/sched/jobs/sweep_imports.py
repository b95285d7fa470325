"""Removes imports that ended long ago, and files that nobody said a word about."""

from __future__ import annotations

import time

from crowdd.domain.server.services import Services
from crowdd.sched.schedule import HOUR, Job


async def _sweep(services: Services) -> str:
    return f"{await services.imports.sweep(time.time())} removed"


JOB = Job("sweep_imports", HOUR, _sweep)
