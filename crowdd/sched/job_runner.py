"""Runs jobs when they are due, each by one process of all that share a database. A failure is never a job's end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs
from twisted.application.service import Service
from twisted.internet.defer import CancelledError, Deferred, DeferredList, ensureDeferred
from twisted.logger import Logger

from crowdd.domain.core.background_queue import words_for
from crowdd.domain.server.services import Services
from crowdd.errors import CrowddError, UnavailableError
from crowdd.sched.log_once import LogOnce
from crowdd.sched.schedule import MINUTE, Job, wait_after
from crowdd.storage.database import Database
from crowdd.storage.server import jobs

MAX_WAIT = MINUTE
"""A job is looked at so often even if it is due later: a run whose process has gone is noticed by that."""

log = Logger()


@attrs.frozen
class RunResult:
    """What came of looking at a job: done or failed when it ran here, else early, busy or broken.

    ``wait`` is in how many seconds to look again; ``seconds`` is what the run took.
    """

    state: str
    wait: float
    words: str = ""
    seconds: float | None = None


class JobRunner(Service):
    """Looks at each job when it may be due. ``session`` is a database of one connection, which holds the jobs' locks.

    Stopping waits ``patience`` seconds for the jobs under way and then breaks them off.
    """

    def __init__(
        self, clock: Any, session: Database, services: Services, jobs: Iterable[Job], *, patience: float = 10.0
    ) -> None:
        self._clock, self._session, self._services = clock, session, services
        self._jobs, self._patience = {job.name: job for job in jobs}, patience
        self._calls: dict[str, Any] = {}
        self._looking: dict[str, Deferred[None]] = {}
        self._running: dict[str, Deferred[str | None]] = {}
        self._outage = LogOnce("periodic jobs")

    def use(self, services: Services) -> None:
        """Runs that begin from now on work by these rules."""
        self._services = services

    def startService(self) -> None:
        super().startService()
        for job in self._jobs.values():
            self._plan(job, 0)

    def stopService(self) -> Deferred[None]:
        super().stopService()
        for call in self._calls.values():
            if call.active():
                call.cancel()
        return ensureDeferred(self._last())

    async def _last(self) -> None:
        timer = self._clock.callLater(self._patience, self._break_off)
        await DeferredList([*self._looking.values()])
        if timer.active():
            timer.cancel()

    def _break_off(self) -> None:
        for running in [*self._running.values()]:
            running.cancel()

    def _plan(self, job: Job, seconds: float) -> None:
        if self.running:
            self._calls[job.name] = self._clock.callLater(seconds, self._begin, job)

    def _begin(self, job: Job) -> None:
        looked: Deferred[None] = Deferred()
        self._looking[job.name] = looked
        ensureDeferred(self._look(job)).addBoth(self._looked, job, looked)

    def _looked(self, wait: Any, job: Job, looked: Deferred[None]) -> None:
        del self._looking[job.name]
        self._plan(job, min(wait, MAX_WAIT))
        looked.callback(None)

    async def _look(self, job: Job) -> float:
        try:
            return (await self.run(job)).wait
        except UnavailableError as error:
            self._outage.failed(error)
        except Exception:
            log.failure("could not check a periodic job, retrying: job={job}", job=job.name)
        return wait_after(job.period, 1)

    async def run(self, job: Job, *, force: bool = False) -> RunResult:
        """Runs a job if it is due, or ``early``, and runs nowhere else. Raises UnavailableError."""
        begun = await jobs.begin(self._session, job.name, job.period, force)
        self._outage.succeeded()
        if begun["state"] != "ours":
            return RunResult(begun["state"], begun["wait"])
        outcome, words = await self._run(job)
        failed = outcome == "failed"
        wait = wait_after(job.period, begun["failures"] + 1 if failed else 0)
        logged = job.is_logged(failed)
        seconds = await jobs.end(self._session, job.name, begun, outcome=outcome, words=words, wait=wait, logged=logged)
        if seconds is None:
            log.warn("periodic job lost its lock while running: job={job}", job=job.name)
        return RunResult(outcome, wait, words, seconds)

    async def _run(self, job: Job) -> tuple[str, str]:
        running = self._running[job.name] = ensureDeferred(job.work(self._services))
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
