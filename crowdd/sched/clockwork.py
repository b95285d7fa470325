"""Work by the clock: each job a name, a period and a coroutine function. A failure is logged and never its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import attrs
from twisted.application.service import Service
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.logger import Logger

from crowdd.errors import UnavailableError

log = Logger()


@attrs.frozen
class Job:
    """``work`` is awaited every ``period`` seconds after it last ended."""

    name: str
    period: float
    work: Callable[[], Awaitable[Any]]


class Clockwork(Service):
    """Runs jobs while the server runs; stopping waits for the ones under way."""

    def __init__(self, clock: Any, jobs: Iterable[Job]) -> None:
        self._clock, self._jobs = clock, tuple(jobs)
        self._calls: dict[str, Any] = {}
        self._running: dict[str, Deferred[None]] = {}

    def startService(self) -> None:
        super().startService()
        for job in self._jobs:
            self._plan(job)

    def stopService(self) -> Deferred[None]:
        super().stopService()
        for call in self._calls.values():
            if call.active():
                call.cancel()
        return ensureDeferred(self._last())

    async def _last(self) -> None:
        for running in list(self._running.values()):
            await running

    def _plan(self, job: Job) -> None:
        if self.running:
            self._calls[job.name] = self._clock.callLater(job.period, self._begin, job)

    def _begin(self, job: Job) -> None:
        self._running[job.name] = ensureDeferred(self._run(job))

    async def _run(self, job: Job) -> None:
        try:
            await job.work()
        except UnavailableError as error:
            log.warn("{job} waits for the database: {error}", job=job.name, error=error)
        except Exception:
            log.failure("{job} failed and is tried again", job=job.name)
        finally:
            self._running.pop(job.name, None)
            self._plan(job)
