"""Send webhook deliveries, in one process at a time, as many at once as receivers and the order of events allow."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from twisted.application.service import Service
from twisted.internet.defer import CancelledError, Deferred, DeferredList, ensureDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from crowdd.concurrency.deadline import deadline
from crowdd.concurrency.poll_loop import PollLoop
from crowdd.domain.core.change_notifier import ANY, ChangeNotifier
from crowdd.domain.webhooks.deliveries import Deliveries
from crowdd.domain.webhooks.retry_policy import room
from crowdd.errors import UnavailableError
from crowdd.reactor import IReactor, epoch_seconds
from crowdd.storage.connections.leadership import Leadership
from crowdd.storage.database import Transactions
from crowdd.storage.webhooks.rows import DueDelivery

if TYPE_CHECKING:
    from crowdd.domain.server.services import Services

SOON = 0.05  # seconds after a notification; changes of this time are handled together
LOOK = 1.0  # seconds between polls of all projects
LOOKS_PER_ADOPTION = 30
FAULT_PAUSE = 60.0
LAST = 5.0  # seconds that running deliveries have when the server stops; cancelled ones are sent again

log = Logger()


def deliveries_of(reactor: IReactor, db: Transactions, services: Services) -> Deliveries:
    """What sends the deliveries of a database by its rules."""
    return Deliveries(
        db,
        services.outgoing,
        services.secrets,
        services.settings.webhooks,
        partial(epoch_seconds, reactor),
        random.random,
        services.mail.send,
    )


class Deliverer(Service):
    """Sends due deliveries while it runs and holds the leadership.

    Deliveries in flight exist only in memory. If the process is killed, they are still waiting in the database, and
    the next leader sends them. A receiver may get a delivery twice, but misses none.
    """

    def __init__(
        self, clock: IReactorTime, deliveries: Deliveries, change_notifier: ChangeNotifier, leadership: Leadership
    ) -> None:
        self._clock, self._deliveries, self._change_notifier, self._leadership = (
            clock,
            deliveries,
            change_notifier,
            leadership,
        )
        self._under_way: dict[int, dict[int, Deferred[None]]] = {}  # project -> delivery -> its end
        self._wanted: set[int] = set()
        self._turns = PollLoop(clock, self._look, self._pause)
        self._look_at_all = True
        self._next_look = 0.0
        self._at_once = False  # a delivery ended during a poll
        self._poll_loop = 0
        self._stop_listening: Callable[[], None] = lambda: None

    def use(self, deliveries: Deliveries) -> None:
        """Send new deliveries with these rules."""
        self._deliveries = deliveries

    def startService(self) -> None:
        super().startService()
        self._stop_listening = self._change_notifier.listen(self._notified)
        self._turns.start()

    def stopService(self) -> Deferred[None]:
        """Fires when the running deliveries have ended or were cancelled."""
        super().stopService()
        self._stop_listening()
        return ensureDeferred(self._last())

    async def _last(self) -> None:
        if not self._leadership.held:
            self._leadership.close()
        await self._turns.stop()
        ends = [end for of_project in self._under_way.values() for end in of_project.values()]
        with deadline(self._clock, LAST, _cancel_all, ends):
            await DeferredList(ends)
        self._leadership.close()

    def _notified(self, project_id: int) -> None:
        if project_id == ANY:
            self._look_at_all = True
        else:
            self._wanted.add(project_id)
        if self._leadership.held:
            self._turns.plan(SOON)

    def _pause(self) -> float:
        at_once, self._at_once = self._at_once, False
        if not self._leadership.held:  # only the leader has a next look to be in time for
            return LOOK
        pause = 0.0 if at_once else SOON if self._wanted else LOOK
        return min(pause, max(0.0, self._next_look - self._clock.seconds()))

    async def _look(self) -> None:
        try:
            if await self._leadership.seek():
                for project_id in await self._projects():
                    await self._fill(project_id)
        except UnavailableError as error:
            log.debug("webhook deliveries paused, database unavailable: {error}", error=error)
        except Exception:
            log.failure("could not look for webhook deliveries, retrying")
        else:
            return
        self._look_at_all = True

    async def _projects(self) -> set[int]:
        """Projects to check: those with a change notification and, from time to time, all that have due deliveries."""
        wanted, self._wanted = self._wanted, set()
        if self._look_at_all or self._clock.seconds() >= self._next_look:
            self._look_at_all, self._next_look = False, self._clock.seconds() + LOOK
            if self._poll_loop % LOOKS_PER_ADOPTION == 0:
                await self._deliveries.adopt()
            self._poll_loop += 1
            wanted |= {*await self._deliveries.candidates()}
        if wanted:
            await self._deliveries.feed(wanted)
        return wanted

    async def _fill(self, project_id: int) -> None:
        """Begin as many deliveries to one receiver as it has room for."""
        busy = self._under_way.get(project_id, {})
        free = room(len(busy), sum(map(len, self._under_way.values())))
        if free == 0:
            return
        for delivery in await self._deliveries.due(project_id, free, list(busy)):
            self._send(delivery)

    def _send(self, delivery: DueDelivery) -> None:
        sending = ensureDeferred(self._deliveries.send(delivery))
        project_id, delivery_id = delivery.project_id, delivery.id
        self._under_way.setdefault(project_id, {})[delivery_id] = sending
        sending.addBoth(self._sent, project_id, delivery_id)

    def _sent(self, result: Failure | None, project_id: int, delivery_id: int) -> None:
        if result is not None and not result.check(UnavailableError, CancelledError):
            # A retry at once would fail in the same way, so the delivery keeps its place for a while.
            log.failure("could not record a webhook delivery: project={project}", result, project=project_id)
            self._clock.callLater(FAULT_PAUSE, self._forget, project_id, delivery_id)
        else:
            self._forget(project_id, delivery_id)

    def _forget(self, project_id: int, delivery_id: int) -> None:
        mine = self._under_way[project_id]
        del mine[delivery_id]
        if not mine:
            del self._under_way[project_id]
        self._wanted.add(project_id)
        self._at_once = True
        self._turns.plan(0)


def _cancel_all(ends: list[Deferred[None]]) -> None:
    for end in ends:
        end.cancel()
