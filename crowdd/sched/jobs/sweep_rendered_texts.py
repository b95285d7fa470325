"""Removes HTML of texts that nobody has read for a month; it is made anew when somebody does."""

from __future__ import annotations

from crowdd.domain.server.services import Services
from crowdd.sched.schedule import DAY, Job


async def _sweep(services: Services) -> str:
    return f"{await services.prose.sweep()} removed"


JOB = Job("sweep_rendered_texts", DAY, _sweep)
