"""Removes letters after their time, and the personal data in them."""

from __future__ import annotations

from crowdd.domain.server.services import Services
from crowdd.sched.schedule import HOUR, Job


async def _sweep(services: Services) -> str:
    return f"{await services.mail.sweep()} removed"


JOB = Job("sweep_mail", HOUR, _sweep)
