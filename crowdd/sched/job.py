"""What a periodic job and the handler of a background task are, and a log that notes a database outage once."""

from __future__ import annotations

from collections.abc import Callable, Coroutine

import attrs
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from crowdd.core.feature import House
from crowdd.kernel.concurrency.timing import back_off
from crowdd.kernel.config import Settings
from crowdd.kernel.errors import UnavailableError
from crowdd.sched.queue import QueuedTask

log = Logger()


MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
_LOGGED_FROM = MINUTE
RunningJob = Coroutine[Deferred[object], object, str | None]


@attrs.frozen
class Job:
    """``work`` is awaited every ``period`` seconds, by one of all processes. What it returns is written to the log.

    ``work`` passes what the job uses of the features to the function that does the job.

    The period counts from the end of a run. If a run fell due while no server was running, it is made up for once, at
    the next start. The work should be in short transactions, because it may be cancelled between any two.

    ``pause``: the job is also run so many seconds after something has changed (``ChangeNotifier``). The period is for
    changes that nobody told of. ``wakes``: their topic; None for changes of projects.

    ``period_by`` says which period the settings of a server choose. None: this server does not run the job.
    """

    name: str
    period: float
    work: Callable[[House], RunningJob]
    period_by: Callable[[Settings], float | None] | None = None
    pause: float | None = None
    wakes: int | None = None

    def is_logged(self, failed: bool) -> bool:
        """Whether to keep a run in the log: failed runs, and all runs of a job that runs every minute or less often."""
        return failed or (self.pause is None and self.period >= _LOGGED_FROM)


def wait_after(period: float, failures: int) -> float:
    """Seconds to the next run after so many failures in a row.

    A failed job with a long period is retried sooner than its period. One with a short period is retried later and
    later.
    """
    if not failures:
        return period
    first = min(period, MINUTE)
    return back_off(failures, 2 * first, 2.0, max(period, MINUTE))


RunningTask = Coroutine[Deferred[object], object, dict[str, object] | None]


@attrs.frozen
class Handler:
    """Runs background tasks of its name. ``run`` may return a dict, which the task's owner sees as the result.

    ``run`` passes what the handler uses of the features, and the task, to the function that does the work.

    A task may be run again at any time, also after its process was killed, and then continues at ``item.checkpoint``.
    The handler works in short transactions and calls ``item.progress`` after each, at the latest after
    ``stall_seconds``. A task is dead after ``max_attempts`` failures in a row without progress, or after an error of
    ``crowdd.kernel.errors`` that would only be repeated.

    ``title`` is the name of such tasks on pages. ``note`` says what is true until one ends, for people who wait.
    """

    name: str
    run: Callable[[House, QueuedTask], RunningTask]
    title: str = ""
    note: str = ""
    max_attempts: int = 8
    stall_seconds: float = 1800.0


class LogOnce:
    """The outages of one part of the server; ``what`` names it in the log."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._lasts = False

    def failed(self, error: UnavailableError) -> None:
        """An attempt failed: log the outage once."""
        if not self._lasts:
            self._lasts = True
            log.warn("{what} paused, database unavailable: {error}", what=self._what, error=error)

    def succeeded(self) -> None:
        """An attempt succeeded: log the recovery once."""
        if self._lasts:
            self._lasts = False
            log.warn("{what} resumed", what=self._what)
