"""The list of all periodic jobs, and how their last runs ended."""

from __future__ import annotations

import functools

from crowdd.sched import jobs
from crowdd.sched.discovery import declared
from crowdd.sched.job import Job
from crowdd.storage.database import Database, Row
from crowdd.storage.server import jobs as stored


@functools.cache
def every_job() -> tuple[Job, ...]:
    """All jobs, in the order of the names of their files."""
    return tuple(declared(jobs, "JOB", Job))


OVERVIEW = ("name", "period", "outcome", "began", "seconds", "failures", "runs", "due", "overdue", "words")


async def overview(db: Database) -> list[Row]:
    """Every job with the keys of OVERVIEW: the jobs of this program, and those that have run on the database.

    ``period`` is None for jobs of other versions. ``outcome`` is "new" for jobs that have not run yet.
    """
    rows = {row["name"]: row for row in await stored.list_jobs(db)}
    periods = {job.name: job.period for job in every_job()}
    return [
        {**dict.fromkeys(OVERVIEW), "outcome": "new", **rows.get(name, {}), "name": name, "period": periods.get(name)}
        for name in sorted({*rows, *periods})
    ]
