"""List all periodic jobs, and run those that are due, each in one of the processes that share a database.

A failed job is retried.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import attrs
from twisted.application.service import Service
from twisted.internet.defer import CancelledError, Deferred, DeferredList, ensureDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from crowdd.core.change_notifier import ChangeNotifier
from crowdd.database.access import Database, Row
from crowdd.kernel.concurrency.timing import PollLoop, deadline
from crowdd.kernel.config import Settings
from crowdd.kernel.errors import CrowddError, UnavailableError
from crowdd.sched import statements
from crowdd.sched.job import DAY, MINUTE, Job, LogOnce, RunningJob, wait_after
from crowdd.sched.queue import words_for
from crowdd.sched.registry import declared
from crowdd.sched.rows import EndedJob

log = Logger()


MAX_WAIT = 5 * MINUTE
"""Seconds between two checks of a job, even if it is due later, so that a run whose process has died is noticed."""


@attrs.frozen
class RunResult:
    """The result of checking a job: ``state`` is done or failed if it ran here, else early, busy or broken.

    ``wait`` is the number of seconds until the next check. ``seconds`` is the duration of the run.
    """

    state: str
    wait: float
    words: str = ""
    seconds: float | None = None


class JobRunner(Service):
    """Checks each job when it may be due. ``session`` is a database of one connection, which holds the jobs' locks.

    ``start`` begins the work of a job.

    Jobs with a ``pause`` are woken by ``change_notifier``. Stopping waits ``patience`` seconds for running jobs and
    then cancels them.
    """

    def __init__(
        self,
        clock: IReactorTime,
        session: Database,
        jobs: Iterable[Job],
        start: Callable[[Job], RunningJob],
        *,
        patience: float = 10.0,
        change_notifier: ChangeNotifier | None = None,
    ) -> None:
        self._clock, self._session, self._start = clock, session, start
        self._change_notifier = change_notifier
        self._stops: list[Callable[[], None]] = []
        self._woken: set[str] = set()
        self._jobs, self._patience = {job.name: job for job in jobs}, patience
        self._waits: dict[str, float] = {}
        self._loops: dict[str, PollLoop] = {}
        self._running: dict[str, Deferred[str | None]] = {}
        self._outage = LogOnce("periodic jobs")
        self._beginning: Deferred[None] | None = None

    def use(self, start: Callable[[Job], RunningJob]) -> None:
        """Begin the runs from now on with this function."""
        self._start = start

    def startService(self) -> None:
        super().startService()
        self._beginning = ensureDeferred(self._begin())

    async def _begin(self) -> None:
        """Ask once when each job is due, where every loop would ask for its own."""
        waits: dict[str, float] = {}
        try:
            waits = await statements.list_first_waits(
                self._session, {job.name: job.period for job in self._jobs.values()}
            )
        except UnavailableError as error:
            self._outage.failed(error)
        except Exception:
            log.failure("could not ask when periodic jobs are due")
        if self.running:
            self._loops = {job.name: self._loop(job) for job in self._jobs.values()}
            for name, loop in self._loops.items():
                loop.start(min(waits.get(name, 0), MAX_WAIT))
            if self._change_notifier is not None:
                self._stops = list(self._follow(self._change_notifier))

    def _loop(self, job: Job) -> PollLoop:
        return PollLoop(self._clock, lambda: self._look(job), lambda: self._waits[job.name])

    def stopService(self) -> Deferred[None]:
        super().stopService()
        return ensureDeferred(self._last())

    async def _last(self) -> None:
        for stop in self._stops:
            stop()
        with deadline(self._clock, self._patience, self._break_off):
            if self._beginning is not None:
                await self._beginning
            await DeferredList([ensureDeferred(loop.stop()) for loop in self._loops.values()])

    def _break_off(self) -> None:
        for running in [*self._running.values()]:
            running.cancel()

    def _follow(self, change_notifier: ChangeNotifier) -> Iterator[Callable[[], None]]:
        """Has jobs with a pause woken, each by its topic. What ends that."""
        by_topic: dict[int | None, list[tuple[Job, float]]] = {}
        for job in self._jobs.values():
            if job.pause is not None:
                by_topic.setdefault(job.wakes, []).append((job, job.pause))
        for topic, jobs in by_topic.items():
            topics = None if topic is None else frozenset({topic})
            yield change_notifier.listen(partial(self._wake, jobs), topics=topics)

    def _wake(self, jobs: Iterable[tuple[Job, float]], _topic: int) -> None:
        for job, pause in jobs:
            if job.name not in self._woken:
                self._woken.add(job.name)
                self._loops[job.name].plan(pause)

    async def _look(self, job: Job) -> None:
        woken = job.name in self._woken
        self._woken.discard(job.name)
        wait = min(await self._run_if_due(job, force=woken), MAX_WAIT)
        self._waits[job.name] = min(wait, job.pause) if job.pause and job.name in self._woken else wait

    async def _run_if_due(self, job: Job, *, force: bool) -> float:
        """Seconds until the job is looked at again."""
        try:
            return (await self.run(job, force=force)).wait
        except UnavailableError as error:
            self._outage.failed(error)
        except Exception:
            log.failure("could not check a periodic job, retrying: job={job}", job=job.name)
        return wait_after(job.period, 1)

    async def run(self, job: Job, *, force: bool = False) -> RunResult:
        """Run a job if it is due, or if ``force`` is set, and it is not running anywhere. Raises UnavailableError."""
        begun = await statements.begin_job(self._session, job.name, job.period, force)
        self._outage.succeeded()
        if begun.state != "ours":
            return RunResult(begun.state, begun.wait or 0.0)
        outcome, words = await self._run(job)
        failed = outcome == "failed"
        wait = wait_after(job.period, (begun.failures or 0) + 1 if failed else 0)
        ended = EndedJob(outcome, words, wait, job.is_logged(failed))
        seconds = await statements.end_job(self._session, job.name, begun, ended)
        if seconds is None:
            log.warn("periodic job lost its lock while running: job={job}", job=job.name)
        return RunResult(outcome, wait, words, seconds)

    async def _run(self, job: Job) -> tuple[str, str]:
        running = self._running[job.name] = ensureDeferred(self._start(job))
        try:
            return "done", await running or ""
        except CancelledError:
            return "failed", "The server ended while it ran."
        except CrowddError as error:
            log.warn("periodic job failed, retrying: job={job} error={error}", job=job.name, error=error)
            return "failed", words_for(error)
        except Exception as error:
            log.failure("periodic job failed, retrying: job={job}", job=job.name)
            return "failed", words_for(error)
        finally:
            if self._running.get(job.name) is running:
                del self._running[job.name]


@functools.cache
def every_job() -> tuple[Job, ...]:
    """All jobs, in the order of their names."""
    return tuple(sorted(declared(Job), key=lambda job: job.name))


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
        for row in await statements.list_jobs(db)
    }
    return [
        {**dict.fromkeys(OVERVIEW), "outcome": "new", **rows.get(name, {}), "name": name, "period": periods.get(name)}
        for name in sorted({*rows, *periods})
    ]


KEPT_DAYS = 30


async def _sweep_job_runs(db: Database) -> str:
    return f"{await statements.sweep_runs(db, KEPT_DAYS)} removed"


# Remove old runs from the log of jobs, and jobs that no longer exist.
JOB = Job("sweep_job_runs", DAY, lambda house: _sweep_job_runs(house.base.db))
