"""The jobs of upkeep: send e-mails, and remove old ones, log entries, idempotency keys, counts and rendered texts."""

from __future__ import annotations

from crowdd.core import statements as core_statements
from crowdd.core.mail.mail import Mail
from crowdd.core.security_log import SecurityLog
from crowdd.core.text.rendered_text import Prose
from crowdd.database.access import Database
from crowdd.sched.job import DAY, HOUR, MINUTE, Job


async def _sweep_security_log(security_log: SecurityLog, db: Database, days: int) -> str:
    return f"{await security_log.sweep(db, days)} removed"


# Remove old entries of the security log, and networks of keys that are no longer used.
SWEEP_SECURITY_LOG_JOB = Job(
    "sweep_security_log",
    HOUR,
    lambda services: _sweep_security_log(services.security_log, services.db, services.settings.log.security_days),
)


async def _send(mail: Mail) -> str:
    tally = await mail.deliver()
    return f"{tally.sent} sent, {tally.held} held, {tally.failed} failed"


# Deliver the e-mails that are due.
SEND_MAIL_JOB = Job("send_mail", 5, lambda services: _send(services.mail))


async def _sweep_keys(db: Database) -> str:
    return f"{await core_statements.delete_idempotency_keys(db)} removed"


# Remove idempotency keys after their expiry.
SWEEP_KEYS_JOB = Job("sweep_keys", 10 * MINUTE, lambda services: _sweep_keys(services.db))


async def _sweep_mail(mail: Mail) -> str:
    return f"{await mail.sweep()} removed"


# Remove old e-mails and the personal data in them.
SWEEP_MAIL_JOB = Job("sweep_mail", HOUR, lambda services: _sweep_mail(services.mail))


async def _sweep_rate_counts(db: Database) -> str:
    return f"{await core_statements.delete_rate_counts(db)} removed"


# Remove counts of requests after the end of their window.
SWEEP_RATE_COUNTS_JOB = Job("sweep_rate_counts", 15 * MINUTE, lambda services: _sweep_rate_counts(services.db))


async def _sweep_rendered_texts(prose: Prose) -> str:
    return f"{await prose.sweep()} removed"


# Remove rendered HTML of texts that nobody has read for a month. It is rendered again when it is read.
SWEEP_RENDERED_TEXTS_JOB = Job("sweep_rendered_texts", DAY, lambda services: _sweep_rendered_texts(services.prose))
