"""Run the background tasks that wait in the queue, a few at a time, list their handlers, and remove old tasks."""

from __future__ import annotations

import functools
import secrets as random
from collections.abc import Callable, Mapping
from types import MappingProxyType

from twisted.application.service import Service
from twisted.internet.defer import CancelledError, Deferred, DeferredList, ensureDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from crowdd.core.change_notifier import QUEUE, ChangeNotifier
from crowdd.core.mail.mail import Mail
from crowdd.database.access import Database
from crowdd.kernel.concurrency.timing import PollLoop, deadline
from crowdd.kernel.errors import CrowddError, StoppedError, UnavailableError
from crowdd.sched import statements
from crowdd.sched.job import Handler, LogOnce, RunningTask
from crowdd.sched.queue import Outcome, Queue, QueuedTask, StalledError, after_error
from crowdd.sched.registry import declared
from crowdd.sched.statements import LOST_SECONDS

log = Logger()


LOOK_SECONDS = 15.0  # between two looks; one that hears of a new task looks sooner
SOON = 0.2  # seconds after it was heard of: its transaction may not be committed yet
HEARTBEAT_SECONDS = LOST_SECONDS / 4

Start = Callable[[Handler, QueuedTask], RunningTask]


class Worker(Service):
    """Runs tasks while the server runs, at most ``size`` at once. ``start`` begins the work of one.

    The database, queue and mail have connections of their own, apart from those of requests.

    ``session`` is a database of one connection, which holds a lock of this worker. When the process dies, PostgreSQL
    frees the lock, and the next worker that polls continues the task at once. Without a session, and while it is
    disconnected, other workers wait until the task has had no heartbeat for LOST_SECONDS.

    Stopping asks running tasks to end at their next progress, and cancels them after ``patience`` seconds. They then
    wait in the queue again and continue at their checkpoint, in another process or at the next start.
    """

    def __init__(
        self,
        clock: IReactorTime,
        handlers: Mapping[str, Handler],
        db: Database,
        queue: Queue,
        mail: Mail,
        start: Start,
        *,
        size: int,
        patience: float = 10.0,
        session: Database | None = None,
        change_notifier: ChangeNotifier | None = None,
    ) -> None:
        self._change_notifier = change_notifier
        self._stop_listening: Callable[[], None] = lambda: None
        self._clock, self._handlers = clock, handlers
        self._db, self._queue, self._mail, self._start = db, queue, mail, start
        self._session, self._name = session, ""
        self._size, self._patience = size, patience
        self._loop = PollLoop(clock, self._look, lambda: LOOK_SECONDS)
        self._active: dict[QueuedTask, Deferred[None]] = {}
        self._running: dict[QueuedTask, Deferred[dict[str, object] | None]] = {}
        self._stopping = False
        self._outage = LogOnce("queue")

    def use(self, db: Database, queue: Queue, mail: Mail, start: Start) -> None:
        """Run the tasks from now on with these."""
        self._db, self._queue, self._mail, self._start = db, queue, mail, start

    def startService(self) -> None:
        super().startService()
        self._stopping = False
        if self._size:
            self._loop.start()
            if self._change_notifier is not None:
                self._stop_listening = self._change_notifier.listen(self._notified, topics=frozenset({QUEUE}))

    def stopService(self) -> Deferred[None]:
        super().stopService()
        self._stopping = True
        for item in self._running:
            item.stopping = True
        return ensureDeferred(self._last())

    def _notified(self, _topic: int) -> None:
        self._loop.plan(SOON)

    async def _last(self) -> None:
        self._stop_listening()
        await self._loop.stop()
        with deadline(self._clock, self._patience, self._break_off):
            await DeferredList([*self._active.values()])

    def _break_off(self) -> None:
        for item, running in [*self._running.items()]:
            log.warn("background task cancelled, stop timeout exceeded: name={item.name} id={item.id}", item=item)
            item.stopping = True
            running.cancel()

    async def _look(self) -> None:
        try:
            await self.take()
        except UnavailableError as error:
            self._outage.failed(error)
        except Exception:
            log.failure("could not read the queue, retrying")

    async def take(self) -> list[Deferred[None]]:
        """Begin due tasks until ``size`` are running. Each Deferred fires when the outcome of a task is saved."""
        begun = []
        while len(self._active) < self._size and not self._stopping and not self._has_suspect():
            item = await self._queue.claim(self._handlers.keys(), await self._presence())
            self._outage.succeeded()
            if item is None:
                break
            item.stopping = self._stopping
            begun.append(self._begin(item))
        return begun

    def _has_suspect(self) -> bool:
        """Whether a task is under way that failed before, and has not got further since.

        It may have killed its process. No other task begins beside it, which would count that as its own failure.
        """
        return any(item.failures for item in self._active)

    async def _presence(self) -> str | None:
        """The name of the lock that shows that this process is alive, or None while it cannot be held."""
        if self._session is None:
            return None
        self._name = self._name or random.token_hex(8)  # not before the first look: processes are forked
        return self._name if await statements.hold_presence(self._session, self._name) else None

    def _begin(self, item: QueuedTask) -> Deferred[None]:
        settled = ensureDeferred(self._do(item))
        if not settled.called:
            self._active[item] = settled
            settled.addBoth(lambda _: self._let_go(item))
        return settled

    def _let_go(self, item: QueuedTask) -> None:
        del self._active[item]
        self._loop.plan(0)

    async def _do(self, item: QueuedTask) -> None:
        outcome = await self._attempt(item, self._handlers[item.name])
        try:
            if not await self._queue.record_outcome(item, outcome):
                log.info("background task taken over by another worker: name={item.name} id={item.id}", item=item)
            elif outcome.state == "dead" and item.email_addr:
                await self._tell_owner(item, item.email_addr, outcome.error)
        except UnavailableError as error:
            # It has no more heartbeats, so another worker will find it.
            log.warn(
                "could not save the outcome of a background task: name={item.name} id={item.id} error={error}",
                item=item,
                error=error,
            )
        except Exception:
            log.failure("could not finish a background task: name={item.name} id={item.id}", item=item)

    async def _tell_owner(self, item: QueuedTask, email_addr: str, error: str) -> None:
        work = self._handlers[item.name].title or item.name.replace("_", " ")
        words = {"fullname": item.who.fullname, "work": work, "number": item.id, "error": error}
        await self._mail.send(self._db, email_addr, "dead_work", words, item.who.locale)

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
        running = self._running[item] = ensureDeferred(self._start(handler, item))
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
    """Sends the heartbeat of a task while it runs, and cancels a task without progress for ``seconds``."""

    def __init__(
        self, clock: IReactorTime, item: QueuedTask, running: Deferred[dict[str, object] | None], seconds: float
    ) -> None:
        self._clock, self._item = clock, item
        self._stalled = clock.callLater(seconds, running.cancel)
        self._next = clock.callLater(HEARTBEAT_SECONDS, self._heartbeat)
        self._seconds = seconds
        item.on_progress(self._progressed)

    def stop(self) -> None:
        """The task has ended: send no more heartbeats."""
        for call in (self._stalled, self._next):
            if call.active():
                call.cancel()

    def _progressed(self) -> None:
        if self._stalled.active():
            self._stalled.reset(self._seconds)

    def _heartbeat(self) -> None:
        self._next = self._clock.callLater(HEARTBEAT_SECONDS, self._heartbeat)
        ensureDeferred(self._item.heartbeat()).addErrback(self._missed)

    def _missed(self, failure: Failure) -> None:
        log.warn(
            "background task heartbeat failed: name={item.name} id={item.id} error={error}",
            item=self._item,
            error=failure.value,
        )


@functools.cache
def handlers() -> Mapping[str, Handler]:
    """Every handler by its name."""
    return MappingProxyType({handler.name: handler for handler in declared(Handler)})


UNKNOWN_HOURS = 24


async def sweep_queue(queue: Queue) -> str:
    """Remove old background tasks, and end those that no worker has a handler for."""
    dead = await queue.dead_letter_unknown(handlers().keys(), UNKNOWN_HOURS)
    return f"{await queue.sweep()} removed, {dead} unknown"
