"""Removes uploaded files that nothing refers to: of processes killed half-way, and of projects that are gone."""

from __future__ import annotations

from crowdd.domain.server import upload_gc
from crowdd.domain.server.services import Domain
from crowdd.sched.schedule import DAY, Job


async def _sweep(domain: Domain) -> str:
    return f"{await upload_gc.sweep(domain.db, domain.uploads)} removed"


JOB = Job("sweep_uploads", DAY, _sweep)
