"""Remove old e-mails and the personal data in them."""

from __future__ import annotations

from crowdd.domain.mail.mail import Mail
from crowdd.sched.job import HOUR, Job


async def _sweep_mail(mail: Mail) -> str:
    return f"{await mail.sweep()} removed"


JOB = Job("sweep_mail", HOUR, lambda services: _sweep_mail(services.mail))
