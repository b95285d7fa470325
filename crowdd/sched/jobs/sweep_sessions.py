"""Removes sessions, links that work once and failed attempts that have had their time."""

from __future__ import annotations

from crowdd.domain.server.services import Services
from crowdd.sched.schedule import MINUTE, Job
from crowdd.storage.accounts import accounts


async def _sweep(services: Services) -> str:
    return f"{await accounts.sweep(services.db)} removed"


JOB = Job("sweep_sessions", 10 * MINUTE, _sweep)
