"""Removes letters after their time, and the personal data in them."""

from __future__ import annotations

from crowdd.domain.server.services import Domain
from crowdd.sched.schedule import HOUR, Job


async def _sweep(domain: Domain) -> str:
    return f"{await domain.mail.sweep()} removed"


JOB = Job("sweep_mail", HOUR, _sweep)
