"""The list of all periodic jobs, and how their last runs ended."""

from __future__ import annotations

import functools

import attrs

from crowdd.config import Settings
from crowdd.sched.discovery import declared
from crowdd.sched.job import Job
from crowdd.storage.database import Database, Row
from crowdd.storage.server import jobs as stored

_DECLARED_IN = (
    "crowdd.sched.jobs.transfer.back_up",
    "crowdd.sched.jobs.audit_log.chain_audit",
    "crowdd.sched.jobs.check_counters",
    "crowdd.sched.jobs.compare_answers",
    "crowdd.sched.jobs.compare_gold",
    "crowdd.sched.jobs.compare_results",
    "crowdd.sched.jobs.finish_account_deletions",
    "crowdd.sched.jobs.fold_counters",
    "crowdd.sched.jobs.server.follow_clock",
    "crowdd.sched.jobs.transfer.read_sources",
    "crowdd.sched.jobs.send_mail",
    "crowdd.sched.jobs.settle_links",
    "crowdd.sched.jobs.transfer.start_snapshots",
    "crowdd.sched.jobs.transfer.sweep_deletions",
    "crowdd.sched.jobs.sweep_deliveries",
    "crowdd.sched.jobs.transfer.sweep_exports",
    "crowdd.sched.jobs.transfer.sweep_history",
    "crowdd.sched.jobs.transfer.sweep_imports",
    "crowdd.sched.jobs.server.sweep_job_runs",
    "crowdd.sched.jobs.sweep_keys",
    "crowdd.sched.jobs.sweep_leases",
    "crowdd.sched.jobs.sweep_mail",
    "crowdd.sched.jobs.sweep_personal_data",
    "crowdd.sched.jobs.sweep_queue",
    "crowdd.sched.jobs.sweep_rate_counts",
    "crowdd.sched.jobs.sweep_rendered_texts",
    "crowdd.sched.jobs.sweep_security_log",
    "crowdd.sched.jobs.sweep_sessions",
    "crowdd.sched.jobs.sweep_uploads",
    "crowdd.sched.jobs.audit_log.verify_audit",
)


@functools.cache
def every_job() -> tuple[Job, ...]:
    """All jobs, in the order of their names."""
    return tuple(sorted(declared(_DECLARED_IN, Job), key=lambda job: job.name))


def scheduled(settings: Settings) -> tuple[Job, ...]:
    """The jobs that a server with these settings runs, with the periods that these choose."""
    periods = ((job, job.period if job.period_by is None else job.period_by(settings)) for job in every_job())
    return tuple(attrs.evolve(job, period=period) for job, period in periods if period is not None)


OVERVIEW = ("name", "period", "outcome", "began", "seconds", "failures", "runs", "due", "overdue", "words")


async def overview(db: Database, settings: Settings) -> list[Row]:
    """Every job with the keys of OVERVIEW: those of a server with these settings, and those that ran on the database.

    ``period`` is None for jobs of other versions and for those that the settings switch off, which are never overdue.
    ``outcome`` is "new" for jobs that have not run yet.
    """
    periods = {job.name: job.period for job in scheduled(settings)}
    rows = {
        row["name"]: {**row, "overdue": row["overdue"] if row["name"] in periods else 0.0}
        for row in await stored.list_jobs(db)
    }
    return [
        {**dict.fromkeys(OVERVIEW), "outcome": "new", **rows.get(name, {}), "name": name, "period": periods.get(name)}
        for name in sorted({*rows, *periods})
    ]
