"""Deliver the e-mails that are due."""

from __future__ import annotations

from crowdd.domain.mail.mail import Mail
from crowdd.sched.job import Job


async def _send(mail: Mail) -> str:
    tally = await mail.deliver()
    return f"{tally.sent} sent, {tally.held} held, {tally.failed} failed"


JOB = Job("send_mail", 5, lambda services: _send(services.mail))
