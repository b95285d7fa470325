"""Does the work that waits in the queue, a few items at a time."""

from __future__ import annotations

import secrets as random
from collections.abc import Mapping
from typing import Any

from twisted.application.service import Service
from twisted.internet.defer import CancelledError, Deferred, DeferredList, ensureDeferred
from twisted.logger import Logger

from crowdd.domain.core.background_queue import Outcome, QueuedTask, StalledError, after_error
from crowdd.domain.server.services import Services
from crowdd.errors import CrowddError, StoppedError, UnavailableError
from crowdd.sched.log_once import LogOnce
from crowdd.sched.task_handlers import Handler
from crowdd.storage.core import queue
from crowdd.storage.core.queue import LOST_SECONDS
from crowdd.storage.database import Database

LOOK_SECONDS = 1.0
HEARTBEAT_SECONDS = LOST_SECONDS / 4

log = Logger()


class Worker(Service):
    """Takes items while the server runs, at most ``size`` at once; ``services`` has connections of its own for them.

    ``session`` is a database of one connection, which holds a lock of this worker: when the process dies, PostgreSQL
    frees it, and the next worker that looks goes on at once. Without it, and while it is away, others wait until the
    item has given no sign of life for LOST_SECONDS.

    Stopping asks what is under way to end at its next progress, and breaks it off after ``patience`` seconds. Either
    way it waits again, and goes on at its checkpoint in another process or at the next start.
    """

    def __init__(
        self,
        clock: Any,
        services: Services,
        handlers: Mapping[str, Handler],
        *,
        size: int,
        patience: float = 10.0,
        session: Database | None = None,
    ) -> None:
        self._clock, self._services, self._handlers = clock, services, handlers
        self._session, self._name = session, ""
        self._size, self._patience = size, patience
        self._call: Any = None
        self._looking: Deferred[None] | None = None
        self._active: dict[QueuedTask, Deferred[None]] = {}
        self._running: dict[QueuedTask, Deferred[Any]] = {}
        self._stopping = False
        self._outage = LogOnce("queue")

    def use(self, services: Services) -> None:
        """Work that begins from now on is done by these rules."""
        self._services = services

    def startService(self) -> None:
        super().startService()
        self._stopping = False
        if self._size:
            self._look()

    def stopService(self) -> Deferred[None]:
        super().stopService()
        self._stopping = True
        if self._call is not None and self._call.active():
            self._call.cancel()
        for item in self._running:
            item.stopping = True
        return ensureDeferred(self._last())

    async def _last(self) -> None:
        if self._looking is not None:
            await self._looking
        timer = self._clock.callLater(self._patience, self._break_off)
        await DeferredList([*self._active.values()])
        if timer.active():
            timer.cancel()

    def _break_off(self) -> None:
        for item, running in [*self._running.items()]:
            log.warn("background task cancelled, stop timeout exceeded: name={item.name} id={item.id}", item=item)
            item.stopping = True
            running.cancel()

    def _look(self) -> None:
        self._looking = ensureDeferred(self._take_and_plan())

    async def _take_and_plan(self) -> None:
        try:
            await self.take()
        except UnavailableError as error:
            self._outage.failed(error)
        except Exception:
            log.failure("could not read the queue, retrying")
        self._looking = None
        if self.running:
            self._call = self._clock.callLater(LOOK_SECONDS, self._look)

    async def take(self) -> list[Deferred[None]]:
        """Begins what is due, as far as there are free hands; the Deferreds fire when each item has been settled."""
        begun = []
        while len(self._active) < self._size and not self._stopping:
            item = await self._services.queue.claim(self._handlers.keys(), await self._presence())
            self._outage.succeeded()
            if item is None:
                break
            item.stopping = self._stopping
            begun.append(self._begin(item))
        return begun

    async def _presence(self) -> str | None:
        """The name of the lock that shows that this process is alive; None while it cannot be held."""
        if self._session is None:
            return None
        self._name = self._name or random.token_hex(8)  # not before the first look: processes are forked
        return self._name if await queue.hold_presence(self._session, self._name) else None

    def _begin(self, item: QueuedTask) -> Deferred[None]:
        settled = ensureDeferred(self._do(item))
        if not settled.called:
            self._active[item] = settled
            settled.addBoth(lambda _: self._let_go(item))
        return settled

    def _let_go(self, item: QueuedTask) -> None:
        del self._active[item]

    async def _do(self, item: QueuedTask) -> None:
        outcome = await self._attempt(item, self._handlers[item.name])
        try:
            if not await self._services.queue.record_outcome(item, outcome):
                log.info("background task taken over by another worker: name={item.name} id={item.id}", item=item)
            elif outcome.state == "dead" and item.email_addr:
                await self._tell_owner(item, item.email_addr, outcome.error)
        except UnavailableError as error:
            # Nobody prolongs it any more, so it will be found.
            log.warn(
                "could not save the outcome of a background task: name={item.name} id={item.id} error={error}",
                item=item,
                error=error,
            )
        except Exception:
            log.failure("could not finish a background task: name={item.name} id={item.id}", item=item)

    async def _tell_owner(self, item: QueuedTask, email_addr: str, error: str) -> None:
        words = {"fullname": item.who.fullname, "work": item.name.replace("_", " "), "number": item.id, "error": error}
        await self._services.mail.send(self._services.db, email_addr, "dead_work", words, item.who.locale)

    async def _attempt(self, item: QueuedTask, handler: Handler) -> Outcome:
        if item.cancelled:
            return Outcome("cancelled")
        if item.failures >= handler.max_attempts:
            return Outcome("dead", "Its process ended each time while it was under way.")
        try:
            return Outcome("done", result=await self._run(item, handler))
        except StoppedError as stopped:
            return after_error(stopped, item.failures, handler.max_attempts)
        except Exception as error:
            if not isinstance(error, CrowddError):
                log.failure("background task failed: name={item.name} id={item.id}", item=item)
            return after_error(error, item.failures, handler.max_attempts)

    async def _run(self, item: QueuedTask, handler: Handler) -> dict[str, object] | None:
        running = self._running[item] = ensureDeferred(handler.run(self._services, item))
        watch = HeartbeatMonitor(self._clock, item, running, handler.stall_seconds)
        try:
            return await running
        except CancelledError:
            if item.stopping:
                raise StoppedError("ending") from None
            raise StalledError(f"No progress for {handler.stall_seconds:g} seconds.") from None
        finally:
            watch.stop()
            del self._running[item]


class HeartbeatMonitor:
    """Beats an item's heart while its work runs, and ends work that says nothing for too long."""

    def __init__(self, clock: Any, item: QueuedTask, running: Deferred[Any], seconds: float) -> None:
        self._clock, self._item = clock, item
        self._stalled = clock.callLater(seconds, running.cancel)
        self._next = clock.callLater(HEARTBEAT_SECONDS, self._heartbeat)
        item.on_progress(lambda: self._stalled.active() and self._stalled.reset(seconds))

    def stop(self) -> None:
        """The work has ended."""
        for call in (self._stalled, self._next):
            if call.active():
                call.cancel()

    def _heartbeat(self) -> None:
        self._next = self._clock.callLater(HEARTBEAT_SECONDS, self._heartbeat)
        ensureDeferred(self._item.heartbeat()).addErrback(self._missed)

    def _missed(self, failure: Any) -> None:
        log.warn(
            "background task heartbeat failed: name={item.name} id={item.id} error={error}",
            item=self._item,
            error=failure.value,
        )
