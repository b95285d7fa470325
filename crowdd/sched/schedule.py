"""What a job is, and the ones there are."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import attrs

from crowdd.domain.server.services import Services
from crowdd.sched import jobs
from crowdd.sched.discovery import declared
from crowdd.storage.database import Database
from crowdd.storage.server import jobs as stored

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
_LOGGED_FROM = MINUTE


@attrs.frozen
class Job:
    """``work(domain)`` is awaited every ``period`` seconds, by one process of all; what it returns is written down.

    The period counts from the end of a run. A run that fell due while no server was there is made up for at the next
    start, once. The work should be in short transactions: it may be broken off between any two.
    """

    name: str
    period: float
    work: Callable[[Services], Coroutine[Any, Any, str | None]]

    def is_logged(self, failed: bool) -> bool:
        """Whether a run stands in the log: those that failed, and all of a job that runs seldom."""
        return failed or self.period >= _LOGGED_FROM


def wait_after(period: float, failures: int) -> float:
    """Seconds to the next run after so many failures in a row.

    A job that failed comes again sooner than its period where that is long, and later and later where it is short.
    """
    if not failures:
        return period
    first = min(period, MINUTE)
    return min(max(period, MINUTE), first * 2.0 ** min(failures, 30))


def every_job() -> list[Job]:
    """All jobs, by the names of their files."""
    return list(declared(jobs, "JOB"))


OVERVIEW = ("name", "period", "outcome", "began", "seconds", "failures", "runs", "due", "overdue", "words")


async def overview(db: Database) -> list[dict[str, Any]]:
    """Every job with the keys of OVERVIEW: what this program knows and what has run on the database.

    ``period`` is None for jobs of other versions, ``outcome`` is "new" for those that have not been looked at.
    """
    rows = {row["name"]: row for row in await stored.list_jobs(db)}
    periods = {job.name: job.period for job in every_job()}
    return [
        {**dict.fromkeys(OVERVIEW), "outcome": "new", **rows.get(name, {}), "name": name, "period": periods.get(name)}
        for name in sorted({*rows, *periods})
    ]
