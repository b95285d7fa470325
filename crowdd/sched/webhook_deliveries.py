"""Webhook deliveries: make one attempt, send those that are due in one process at a time, and remove old ones.

As many are sent at once as receivers and the order of events allow (record 33).
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

import attrs
from cryptography.exceptions import InvalidTag
from twisted.application.service import Service
from twisted.internet.defer import CancelledError, Deferred, DeferredList, ensureDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from crowdd.core.base import Base
from crowdd.core.change_notifier import ANY, ChangeNotifier
from crowdd.core.outbound.client import Outgoing
from crowdd.core.secrets import Secrets
from crowdd.database.access import Database, Transactions
from crowdd.database.locks import Leadership
from crowdd.kernel.concurrency.timing import PollLoop, deadline
from crowdd.kernel.config.outbound import WebhookSettings
from crowdd.kernel.errors import RefusedTargetError, UnavailableError, UnreachableError
from crowdd.kernel.values import Values
from crowdd.sched import event_statements, webhook_messages, webhook_retries
from crowdd.sched.event_statements import Attempt, DueDelivery
from crowdd.sched.webhook_messages import AttemptOutcome, Message, decrypted, encrypted
from crowdd.sched.webhook_retries import DeliveryFailure, room

log = Logger()


MAX_DUE = 256  # deliveries of a project that are made ahead
_KEPT_BODY_BYTES = 8192
_UNREADABLE = "The webhook's secret cannot be read any more. Create a new one."

SendMail = Callable[[Database, str, str, Values, str], Awaitable[Any]]


@attrs.frozen(eq=False)
class Deliveries:
    """``seconds`` is the time of day (epoch), ``chance`` draws from 0 to 1, ``send_mail`` is ``mail.send``."""

    _db: Transactions
    _outgoing: Outgoing
    _secrets: Secrets
    _settings: WebhookSettings
    _seconds: Callable[[], float]
    _chance: Callable[[], float]
    _send_mail: SendMail

    async def adopt(self) -> None:
        """Gives a webhook to projects whose address was set by no way of ours."""
        for project_id in await event_statements.list_without_webhook(self._db):
            await event_statements.add_webhook(
                self._db, project_id, encrypted(self._secrets, webhook_messages.new_secret(), project_id)
            )

    async def candidates(self) -> list[int]:
        """Projects whose receivers may have something coming."""
        return await event_statements.list_candidates(self._db)

    async def feed(self, projects: Collection[int]) -> set[int]:
        """Makes deliveries of the next events of projects; those of them that have any to send."""
        return await event_statements.feed_deliveries(self._db, projects, MAX_DUE)

    async def due(self, project_id: int, room: int, busy: Sequence[int]) -> list[DueDelivery]:
        """What may go now, at most ``room`` beside those that are on their way."""
        return await event_statements.list_due(self._db, project_id, room, busy)

    async def send(self, delivery: DueDelivery) -> None:
        """One attempt: sends, and writes down how it went. When that cannot be written, it will be sent again."""
        begun = self._seconds()
        message = self._message(delivery, int(begun))
        outcome = await self._ask(message) if message else webhook_messages.judge_no_response(_UNREADABLE)
        seconds = max(0.0, self._seconds() - begun)
        attempt: Attempt = {
            "url": message.url if message else delivery.url,
            "body": message.body.decode() if message else "",
            "status": outcome.status,
            "answer": outcome.answer,
            "problem": outcome.problem,
            "seconds": seconds,
        }
        if outcome.failure is None:
            await event_statements.record_delivered(self._db, delivery, attempt)
        else:
            await self._failed(delivery, attempt, outcome.failure, seconds)

    def _message(self, delivery: DueDelivery, timestamp: int) -> Message | None:
        """None when the secret was encrypted with another root key."""
        stored = (delivery.secret_encrypted, delivery.old_secret_encrypted)
        try:
            secrets = [decrypted(self._secrets, one, delivery.project_id) for one in stored if one is not None]
        except InvalidTag:
            return None
        return webhook_messages.build_message(delivery, secrets, timestamp)

    async def _ask(self, message: Message) -> AttemptOutcome:
        try:
            reply = await self._outgoing.request(
                "POST",
                message.url,
                message.headers,
                message.body,
                seconds=self._settings.timeout,
                max_bytes=_KEPT_BODY_BYTES,
            )
        except (RefusedTargetError, UnreachableError) as problem:
            return webhook_messages.judge_no_response(str(problem))
        return webhook_messages.judge_response(reply)

    async def _failed(self, delivery: DueDelivery, attempt: Attempt, failure: DeliveryFailure, seconds: float) -> None:
        project_id, first, chance = delivery.project_id, self._settings.first_delay, self._chance()

        async def work(tx: Database) -> None:
            health = await event_statements.lock_health(tx, project_id, seconds)
            if health is None:
                return
            verdict = webhook_retries.after_failure(failure, delivery.attempts + 1, health, first, chance)
            pause = webhook_retries.delay(verdict.failures, first, chance)
            await event_statements.record_failed(tx, delivery, attempt, verdict, pause)
            if verdict.off:
                await self._switch_off(tx, project_id, attempt["problem"])

        async def test(tx: Database) -> None:
            await event_statements.record_failed_test(tx, delivery, attempt)

        await self._db.transaction(test if delivery.kind == "ping" else work)

    async def _switch_off(self, tx: Database, project_id: int, reason: str) -> None:
        owner = await event_statements.switch_off_receiver(tx, project_id, reason)
        if owner is None:
            return
        log.info("webhook switched off: project={project}", project=project_id)
        context = {"name": owner.name, "short_name": owner.short_name, "reason": reason}
        await self._send_mail(tx, owner.email_addr, "webhook_off", context, owner.locale)


SOON = 0.05  # seconds after a notification; changes of this time are handled together
LOOK = 10.0  # seconds between polls of all projects
LOOKS_PER_ADOPTION = 3
FAULT_PAUSE = 60.0
LAST = 5.0  # seconds that running deliveries have when the server stops; cancelled ones are sent again


def deliveries_of(db: Transactions, base: Base) -> Deliveries:
    """What sends the deliveries of a database by its rules."""
    return Deliveries(
        db,
        base.outgoing,
        base.secrets,
        base.settings.webhooks,
        base.shared.seconds,
        random.random,
        base.mail.send,
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
        """Projects with deliveries: of those with a change notification and, from time to time, of all."""
        wanted, self._wanted = self._wanted, set()
        if self._look_at_all or self._clock.seconds() >= self._next_look:
            self._look_at_all, self._next_look = False, self._clock.seconds() + LOOK
            if self._poll_loop % LOOKS_PER_ADOPTION == 0:
                await self._deliveries.adopt()
            self._poll_loop += 1
            wanted |= {*await self._deliveries.candidates()}
        return await self._deliveries.feed(wanted) if wanted else wanted

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
