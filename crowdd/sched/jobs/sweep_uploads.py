"""Removes uploaded files that nothing refers to: of processes killed half-way, and of projects that are gone."""

from __future__ import annotations

from crowdd.domain.server import upload_gc
from crowdd.domain.server.services import Services
from crowdd.sched.schedule import DAY, Job


async def _sweep(services: Services) -> str:
    return f"{await upload_gc.sweep(services.db, services.uploads)} removed"


JOB = Job("sweep_uploads", DAY, _sweep)
