"""Removes uploaded files that nothing refers to: of processes killed half-way, and of projects that are gone."""

from __future__ import annotations

from crowdd.domain import orphans
from crowdd.domain.domain import Domain
from crowdd.sched.schedule import DAY, Job


async def _sweep(domain: Domain) -> str:
    return f"{await orphans.sweep(domain.db, domain.uploads)} removed"


JOB = Job("sweep_uploads", DAY, _sweep)
