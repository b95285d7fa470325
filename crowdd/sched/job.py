"""What a periodic job is, and when it is due again."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

import attrs
from twisted.internet.defer import Deferred

from crowdd.concurrency.back_off import back_off
from crowdd.config import Settings

if TYPE_CHECKING:
    from crowdd.domain.server.services import Services

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
_LOGGED_FROM = MINUTE
RunningJob = Coroutine[Deferred[object], object, str | None]


@attrs.frozen
class Job:
    """``work`` is awaited every ``period`` seconds, by one of all processes. What it returns is written to the log.

    ``work`` passes the services that the job uses to the function that does the job, which names no others.

    The period counts from the end of a run. If a run fell due while no server was running, it is made up for once, at
    the next start. The work should be in short transactions, because it may be cancelled between any two.

    ``period_by`` says which period the settings of a server choose. None: this server does not run the job.
    """

    name: str
    period: float
    work: Callable[[Services], RunningJob]
    period_by: Callable[[Settings], float | None] | None = None

    def is_logged(self, failed: bool) -> bool:
        """Whether to keep a run in the log: failed runs, and all runs of a job that runs every minute or less often."""
        return failed or self.period >= _LOGGED_FROM


def wait_after(period: float, failures: int) -> float:
    """Seconds to the next run after so many failures in a row.

    A failed job with a long period is retried sooner than its period. One with a short period is retried later and
    later.
    """
    if not failures:
        return period
    first = min(period, MINUTE)
    return back_off(failures, 2 * first, 2.0, max(period, MINUTE))
