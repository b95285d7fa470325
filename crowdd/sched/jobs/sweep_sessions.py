"""Removes sessions, links that work once and failed attempts that have had their time."""

from __future__ import annotations

from crowdd.domain.server.services import Domain
from crowdd.sched.schedule import MINUTE, Job
from crowdd.storage.accounts import accounts


async def _sweep(domain: Domain) -> str:
    return f"{await accounts.sweep(domain.db)} removed"


JOB = Job("sweep_sessions", 10 * MINUTE, _sweep)
