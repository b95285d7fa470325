"""Delivers letters that are due."""

from __future__ import annotations

from crowdd.domain.server.services import Domain
from crowdd.sched.schedule import Job


async def _send(domain: Domain) -> str:
    tally = await domain.mail.deliver()
    return f"{tally.sent} sent, {tally.held} held, {tally.failed} failed"


JOB = Job("send_mail", 5, _send)
