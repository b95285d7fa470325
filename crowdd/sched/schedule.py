"""The list of all periodic jobs, and how their last runs ended."""

from __future__ import annotations

import functools

import attrs

from crowdd.config import Settings
from crowdd.sched import jobs
from crowdd.sched.discovery import declared
from crowdd.sched.job import Job
from crowdd.storage.database import Database, Row
from crowdd.storage.server import jobs as stored


@functools.cache
def every_job() -> tuple[Job, ...]:
    """All jobs, in the order of the names of their files."""
    return tuple(declared(jobs, "JOB", Job))


def scheduled(settings: Settings) -> tuple[Job, ...]:
    """The jobs that a server with these settings runs, with the periods that these choose."""
    periods = ((job, job.period if job.period_by is None else job.period_by(settings)) for job in every_job())
    return tuple(attrs.evolve(job, period=period) for job, period in periods if period is not None)


def scheduled_on_shards(settings: Settings) -> tuple[Job, ...]:
    """The jobs that a server runs for each shard, too."""
    return tuple(job for job in scheduled(settings) if not job.only_home)


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
