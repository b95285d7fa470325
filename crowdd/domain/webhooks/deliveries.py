"""Carries events to the receivers that projects name, one attempt at a time (record 27)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

from cryptography.exceptions import InvalidTag
from twisted.logger import Logger

from crowdd.config.outbound import WebhookSettings
from crowdd.domain.core.secrets import Secrets
from crowdd.domain.outbound.client import Outgoing
from crowdd.domain.webhooks import retry_policy, signatures, webhook_message
from crowdd.domain.webhooks.retry_policy import DeliveryFailure
from crowdd.domain.webhooks.webhook_message import AttemptOutcome, Message
from crowdd.domain.webhooks.webhooks import decrypted, encrypted
from crowdd.errors import RefusedTargetError, UnreachableError
from crowdd.storage.database import Database, Transactions
from crowdd.storage.webhooks import deliveries, webhooks
from crowdd.storage.webhooks.rows import Attempt, DueDelivery
from crowdd.values import Values

MAX_DUE = 256  # deliveries of a project that are made ahead
_KEPT_BODY_BYTES = 8192
_UNREADABLE = "The webhook's secret cannot be read any more. Create a new one."

log = Logger()
SendMail = Callable[[Database, str, str, Values, str], Awaitable[Any]]


class Deliveries:
    """``seconds`` is the time of day (epoch), ``chance`` draws from 0 to 1, ``send_mail`` is ``mail.send``."""

    def __init__(
        self,
        db: Transactions,
        outgoing: Outgoing,
        secrets: Secrets,
        settings: WebhookSettings,
        seconds: Callable[[], float],
        chance: Callable[[], float],
        send_mail: SendMail,
    ) -> None:
        self._db, self._outgoing, self._secrets, self._settings = db, outgoing, secrets, settings
        self._seconds, self._chance, self._send_mail = seconds, chance, send_mail

    async def adopt(self) -> None:
        """Gives a webhook to projects whose address was set by no way of ours."""
        for project_id in await webhooks.unknown(self._db):
            await webhooks.add(self._db, project_id, encrypted(self._secrets, signatures.new_secret(), project_id))

    async def candidates(self) -> list[int]:
        """Projects whose receivers may have something coming."""
        return await deliveries.candidates(self._db)

    async def feed(self, projects: Collection[int]) -> None:
        """Makes deliveries of the next events of projects."""
        await deliveries.feed(self._db, projects, MAX_DUE)

    async def due(self, project_id: int, room: int, busy: Sequence[int]) -> list[DueDelivery]:
        """What may go now, at most ``room`` beside those that are on their way."""
        return await deliveries.due(self._db, project_id, room, busy)

    async def send(self, delivery: DueDelivery) -> None:
        """One attempt: sends, and writes down how it went. When that cannot be written, it will be sent again."""
        begun = self._seconds()
        message = self._message(delivery, int(begun))
        outcome = await self._ask(message) if message else webhook_message.no_answer(_UNREADABLE)
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
            await deliveries.delivered(self._db, delivery, attempt)
        else:
            await self._failed(delivery, attempt, outcome.failure, seconds)

    def _message(self, delivery: DueDelivery, timestamp: int) -> Message | None:
        """None when the secret was encrypted with another root key."""
        stored = (delivery.secret_encrypted, delivery.old_secret_encrypted)
        try:
            secrets = [decrypted(self._secrets, one, delivery.project_id) for one in stored if one is not None]
        except InvalidTag:
            return None
        return webhook_message.message(delivery, secrets, timestamp)

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
            return webhook_message.no_answer(str(problem))
        return webhook_message.outcome(reply)

    async def _failed(self, delivery: DueDelivery, attempt: Attempt, failure: DeliveryFailure, seconds: float) -> None:
        project_id, first, chance = delivery.project_id, self._settings.first_delay, self._chance()

        async def work(tx: Database) -> None:
            health = await deliveries.health(tx, project_id, seconds)
            if health is None:
                return
            verdict = retry_policy.after_failure(
                failure,
                attempts=delivery.attempts + 1,
                failures=health.failures,
                overlapping=health.overlapping,
                active=health.active,
                first=first,
                chance=chance,
            )
            pause = retry_policy.delay(verdict.failures, first, chance)
            await deliveries.failed(tx, delivery, attempt, verdict.given_up, verdict.delay, verdict.failures, pause)
            if verdict.off:
                await self._switch_off(tx, project_id, attempt["problem"])

        async def test(tx: Database) -> None:
            await deliveries.test_failed(tx, delivery, attempt)

        await self._db.transaction(test if delivery.kind == "ping" else work)

    async def _switch_off(self, tx: Database, project_id: int, reason: str) -> None:
        owner = await deliveries.switch_off(tx, project_id, reason)
        if owner is None:
            return
        log.info("webhook switched off: project={project}", project=project_id)
        context = {"name": owner.name, "short_name": owner.short_name, "reason": reason}
        await self._send_mail(tx, owner.email_addr, "webhook_off", context, owner.locale)
