"""Run periodic jobs when they are due, each in one of the processes that share a database. A failed job is retried."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import attrs
from twisted.application.service import Service
from twisted.internet.defer import CancelledError, Deferred, DeferredList, ensureDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from crowdd.concurrency.deadline import deadline
from crowdd.concurrency.poll_loop import PollLoop
from crowdd.domain.core.background_queue import words_for
from crowdd.errors import CrowddError, UnavailableError
from crowdd.sched.job import MINUTE, Job, RunningJob, wait_after
from crowdd.sched.log_once import LogOnce
from crowdd.storage.database import Database
from crowdd.storage.server import jobs

MAX_WAIT = MINUTE
"""Seconds between two checks of a job, even if it is due later, so that a run whose process has died is noticed."""

log = Logger()


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

    ``start`` begins the work of a job. Stopping waits ``patience`` seconds for running jobs and then cancels them.
    """

    def __init__(
        self,
        clock: IReactorTime,
        session: Database,
        jobs: Iterable[Job],
        start: Callable[[Job], RunningJob],
        *,
        patience: float = 10.0,
    ) -> None:
        self._clock, self._session, self._start = clock, session, start
        self._jobs, self._patience = {job.name: job for job in jobs}, patience
        self._waits: dict[str, float] = {}
        self._loops: list[PollLoop] = []
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
            waits = await jobs.first_waits(self._session, {job.name: job.period for job in self._jobs.values()})
        except UnavailableError as error:
            self._outage.failed(error)
        except Exception:
            log.failure("could not ask when periodic jobs are due")
        if self.running:
            self._loops = [self._loop(job) for job in self._jobs.values()]
            for name, loop in zip(self._jobs, self._loops, strict=True):
                loop.start(min(waits.get(name, 0), MAX_WAIT))

    def _loop(self, job: Job) -> PollLoop:
        return PollLoop(self._clock, lambda: self._look(job), lambda: self._waits[job.name])

    def stopService(self) -> Deferred[None]:
        super().stopService()
        return ensureDeferred(self._last())

    async def _last(self) -> None:
        with deadline(self._clock, self._patience, self._break_off):
            if self._beginning is not None:
                await self._beginning
            await DeferredList([ensureDeferred(loop.stop()) for loop in self._loops])

    def _break_off(self) -> None:
        for running in [*self._running.values()]:
            running.cancel()

    async def _look(self, job: Job) -> None:
        self._waits[job.name] = min(await self._run_if_due(job), MAX_WAIT)

    async def _run_if_due(self, job: Job) -> float:
        """Seconds until the job is looked at again."""
        try:
            return (await self.run(job)).wait
        except UnavailableError as error:
            self._outage.failed(error)
        except Exception:
            log.failure("could not check a periodic job, retrying: job={job}", job=job.name)
        return wait_after(job.period, 1)

    async def run(self, job: Job, *, force: bool = False) -> RunResult:
        """Run a job if it is due, or if ``force`` is set, and it is not running anywhere. Raises UnavailableError."""
        begun = await jobs.begin(self._session, job.name, job.period, force)
        self._outage.succeeded()
        if begun.state != "ours":
            return RunResult(begun.state, begun.wait or 0.0)
        outcome, words = await self._run(job)
        failed = outcome == "failed"
        wait = wait_after(job.period, (begun.failures or 0) + 1 if failed else 0)
        logged = job.is_logged(failed)
        seconds = await jobs.end(self._session, job.name, begun, outcome=outcome, words=words, wait=wait, logged=logged)
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
            del self._running[job.name]
