"""Delivers letters that are due."""

from __future__ import annotations

from crowdd.domain.server.services import Services
from crowdd.sched.schedule import Job


async def _send(services: Services) -> str:
    tally = await services.mail.deliver()
    return f"{tally.sent} sent, {tally.held} held, {tally.failed} failed"


JOB = Job("send_mail", 5, _send)
