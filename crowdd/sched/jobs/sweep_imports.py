"""Removes imports that ended long ago, and files that nobody said a word about."""

from __future__ import annotations

import time

from crowdd.domain.server.services import Domain
from crowdd.sched.schedule import HOUR, Job


async def _sweep(domain: Domain) -> str:
    return f"{await domain.imports.sweep(time.time())} removed"


JOB = Job("sweep_imports", HOUR, _sweep)
