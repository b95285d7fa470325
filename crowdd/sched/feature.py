"""The queue and the recount of counters, and the jobs of upkeep: send e-mails, and remove what is old."""

from __future__ import annotations

import attrs

from crowdd.core import statements as core_statements
from crowdd.core.base import Base
from crowdd.core.change_notifier import MAIL
from crowdd.core.feature import Feature
from crowdd.core.mail.mail import Mail
from crowdd.core.security_log import SecurityLog
from crowdd.core.text.rendered_text import Prose
from crowdd.database import nodes
from crowdd.database.access import Database
from crowdd.sched.job import DAY, HOUR, MINUTE, Job
from crowdd.sched.queue import Queue
from crowdd.sched.queue_worker import sweep_queue
from crowdd.sched.statistics import Checking, check_counters


@attrs.frozen
class Scheduling(Feature):
    """What features use of the scheduler. It stands before all of them."""

    queue: Queue
    checking: Checking

    @classmethod
    def build(cls, base: Base) -> Scheduling:
        return cls(Queue(base.db, base.notify), Checking(base.db))


# Remove old background tasks, and end those that no worker has a handler for.
SWEEP_QUEUE_JOB = Job("sweep_queue", HOUR, lambda house: sweep_queue(house[Scheduling].queue))


# Recount every counter, correct the wrong ones and log each correction.
CHECK_COUNTERS_JOB = Job("check_counters", DAY, lambda house: check_counters(house[Scheduling].checking))


async def _sweep_security_log(security_log: SecurityLog, db: Database, days: int) -> str:
    return f"{await security_log.sweep(db, days)} removed"


# Remove old entries of the security log, and networks of keys that are no longer used.
SWEEP_SECURITY_LOG_JOB = Job(
    "sweep_security_log",
    HOUR,
    lambda house: _sweep_security_log(house.base.security_log, house.base.db, house.base.settings.log.security_days),
)


async def _send(mail: Mail) -> str:
    tally = await mail.deliver()
    return f"{tally.sent} sent, {tally.held} held, {tally.failed} failed"


# Deliver the e-mails that are due.
SEND_MAIL_JOB = Job("send_mail", MINUTE, lambda house: _send(house.base.mail), pause=1, wakes=MAIL)


async def _sweep_keys(db: Database) -> str:
    return f"{await core_statements.delete_idempotency_keys(db)} removed"


# Remove idempotency keys after their expiry.
SWEEP_KEYS_JOB = Job("sweep_keys", 10 * MINUTE, lambda house: _sweep_keys(house.base.db))


async def _sweep_mail(mail: Mail) -> str:
    return f"{await mail.sweep()} removed"


# Remove old e-mails and the personal data in them.
SWEEP_MAIL_JOB = Job("sweep_mail", HOUR, lambda house: _sweep_mail(house.base.mail))


async def _sweep_rate_counts(db: Database) -> str:
    return f"{await core_statements.delete_rate_counts(db)} removed"


# Remove counts of requests after the end of their window.
SWEEP_RATE_COUNTS_JOB = Job("sweep_rate_counts", 15 * MINUTE, lambda house: _sweep_rate_counts(house.base.db))


async def _sweep_rendered_texts(prose: Prose) -> str:
    return f"{await prose.sweep()} removed"


# Remove rendered HTML of texts that nobody has read for a month. It is rendered again when it is read.
SWEEP_RENDERED_TEXTS_JOB = Job("sweep_rendered_texts", DAY, lambda house: _sweep_rendered_texts(house.base.prose))


async def _sweep_nodes(db: Database) -> str:
    return f"{await nodes.delete_gone(db)} removed"


# Remove processes that died long ago from the list of nodes.
SWEEP_NODES_JOB = Job("sweep_nodes", DAY, lambda house: _sweep_nodes(house.base.db))
