"""A project's webhook for those who run the project: its state, its secret, its log, and what is sent once more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TypeVar

import attrs
from cryptography.exceptions import InvalidTag

from crowdd.core import log_statements
from crowdd.core.outbound.client import Outgoing
from crowdd.core.records import rights
from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.core.secrets import Secrets
from crowdd.database.access import Database, Row, Transactions
from crowdd.features.projects.parts import ProjectPart
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.webhooks import statements
from crowdd.kernel import exact_json
from crowdd.kernel.errors import NOT_FOUND, ConflictError, InvalidRequestError, NotFoundError
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.kind import outward
from crowdd.kinds.roles import OWNERS
from crowdd.sched import event_statements, webhook_messages, webhook_retries
from crowdd.sched.event_statements import Delivery, WebhookState
from crowdd.sched.webhook_messages import decrypted, encrypted

OLD_SECRET_HOURS = 24
MAX_LISTED = 100
STATES = ("waiting", "delivered", "failed")

T = TypeVar("T")


class Webhooks:
    """``project`` is a row of ``Projects.owned`` everywhere; the requester must be one of its owners."""

    def __init__(self, db: Transactions, notify: Callable[[int], None], secrets: Secrets, outgoing: Outgoing) -> None:
        self._db, self._notify, self._secrets, self._outgoing = db, notify, secrets, outgoing

    async def follow(self, tx: Database, project_id: int, before: str | None, after: str | None) -> None:
        """What a new address of a project means for its webhook: it starts over, with what happens from now on.

        Every way in which a project gets an address comes through here. Raises RefusedTargetError for one that crowdd
        does not ask.
        """
        if after is None or after == before:
            return
        self.require(after)
        new = await event_statements.add_webhook(
            tx, project_id, encrypted(self._secrets, webhook_messages.new_secret(), project_id)
        )
        if not new and before is None:
            await statements.begin(tx, project_id)
        await statements.switch_on(tx, project_id)

    def require(self, address: str) -> None:
        """Pass an address that crowdd may ask, as far as it shows; raises RefusedTargetError with a sentence."""
        self._outgoing.target(address)

    async def state(self, project: ProjectPage, who: Requester) -> Values:
        """Address, health and counts, for people and programs (``state_view``)."""
        rights.require(who, project["roles"], OWNERS)
        row = await statements.state(self._db, project["id"])
        if row is None:
            raise NotFoundError(NOT_FOUND)
        return state_view(row)

    async def all_states(self) -> list[Values]:
        """The same of all projects, for the operator."""
        return [state_view(row) for row in await statements.states(self._db)]

    async def page_of_states(self, place: Keyset) -> KeysetPage[WebhookState]:
        """A page of the webhooks for the operator, those in trouble first; ``state_view`` shows them."""
        return await statements.page(self._db, place)

    async def secret(self, project: ProjectPage, who: Requester) -> str | None:
        """The secret that signs; None without a webhook, or when the server's root key is another than it was."""
        rights.require(who, project["roles"], OWNERS)
        row = await statements.secrets(self._db, project["id"])
        try:
            return decrypted(self._secrets, row.secret_encrypted, project["id"]) if row else None
        except InvalidTag:
            return None

    async def rotate(self, project: ProjectPage, who: Requester) -> str:
        """A new secret; messages are signed with the old one too for a day."""
        secret = webhook_messages.new_secret()

        async def work(tx: Database) -> None:
            stored = encrypted(self._secrets, secret, project["id"])
            if not await statements.rotate(tx, project["id"], stored, OLD_SECRET_HOURS):
                raise _no_address()

        await self._changed(project, who, "rotate_webhook_secret", work)
        return secret

    async def log(
        self,
        project: ProjectPage,
        who: Requester,
        maximum: int = 20,
        before: int | None = None,
        only: str | None = None,
    ) -> list[Values]:
        """The newest deliveries before an id, perhaps only those of a state."""
        rights.require(who, project["roles"], OWNERS)
        only = only if only in STATES else None
        maximum = max(1, min(maximum, MAX_LISTED))
        delivery_page = await self.page(project, who, Keyset(maximum, before=before), only)
        return [delivery_view(row) for row in delivery_page.rows]

    async def page(
        self, project: ProjectPage, who: Requester, place: Keyset, only: str | None = None
    ) -> KeysetPage[Delivery]:
        """A page of the deliveries, perhaps only those of a state; ``delivery_view`` says what programs get of them."""
        rights.require(who, project["roles"], OWNERS)
        return await statements.deliveries(self._db, project["id"], place, only)

    async def delivery(self, project: ProjectPage, who: Requester, delivery_id: int) -> Values:
        """One delivery with all its attempts."""
        rights.require(who, project["roles"], OWNERS)
        row = await statements.delivery(self._db, project["id"], delivery_id)
        if row is None:
            raise NotFoundError(NOT_FOUND)
        tried = await statements.attempts(self._db, project["id"], delivery_id)
        return {**delivery_view(row), "attempts_made": [_plain(one) for one in tried]}

    async def ping(self, project: ProjectPage, who: Requester) -> int:
        """Sends a test as soon as somebody delivers; the id of its delivery."""
        await self._require_address(project)
        return await self._changed(project, who, "test_webhook", lambda tx: statements.ping(tx, project["id"]))

    async def again(self, project: ProjectPage, who: Requester, delivery_id: int) -> None:
        """Sends one delivery once more."""
        await self._require_address(project)

        async def work(tx: Database) -> None:
            if not await statements.again(tx, project["id"], delivery_id):
                raise NotFoundError(NOT_FOUND)

        await self._changed(project, who, "redeliver", work)

    async def again_each(self, project: ProjectPage, who: Requester, delivery_ids: Iterable[int]) -> int:
        """Sends some deliveries once more; how many of them there are."""
        await self._require_address(project)

        async def work(tx: Database) -> int:
            return sum([await statements.again(tx, project["id"], each) for each in sorted(set(delivery_ids))])

        return await self._changed(project, who, "redeliver", work)

    async def all_failed_again(self, project: ProjectPage, who: Requester) -> int:
        """Sends every failed delivery once more; how many these are."""
        await self._require_address(project)
        return await self._changed(project, who, "redeliver", lambda tx: statements.all_failed_again(tx, project["id"]))

    async def replay(self, project: ProjectPage, who: Requester, first: int, last: int | None = None) -> int:
        """Sends the events from one number to another (the newest unless given) once more; how many these are.

        Raises ConflictError while another such range is under way.
        """
        await self._require_address(project)
        newest = await event_statements.find_last_seq(self._db, project["id"])
        last = newest if last is None else min(last, newest)
        first = max(first, 1)
        if first > last:
            raise InvalidRequestError(f"Events {first} to {last} do not exist. The newest event is {newest}.")
        await self._replay(project, who, first - 1, last, only_missing=False)
        return last - first + 1

    async def backfill(self, project: ProjectPage, who: Requester) -> int:
        """Sends what happened while there was no address; how many events that were."""
        await self._require_address(project)
        row = await statements.state(self._db, project["id"])
        if row is None or row.gap_from is None or row.gap_to is None:
            return 0
        await self._replay(project, who, row.gap_from, row.gap_to, only_missing=True)
        return row.gap_to - row.gap_from

    async def switch_on(self, project: ProjectPage, who: Requester) -> None:
        """Goes on after the webhook was switched off; what waited goes now."""
        await self._require_address(project)
        await self._changed(project, who, "switch_on_webhook", lambda tx: statements.switch_on(tx, project["id"]))

    async def prune(self, days: int, maximum: int) -> int:
        """Removes what the log keeps no longer, some thousands at a time; how many deliveries that were."""
        removed = 0
        while now := await event_statements.prune_deliveries(self._db, days, maximum):
            removed += now
        return removed

    async def _replay(self, project: ProjectPage, who: Requester, after: int, upto: int, *, only_missing: bool) -> None:
        async def work(tx: Database) -> None:
            if not await statements.replay(tx, project["id"], after, upto, only_missing=only_missing):
                raise ConflictError("Another range of events is being sent again.", code="replay_under_way")

        await self._changed(project, who, "backfill" if only_missing else "redeliver", work)

    async def _require_address(self, project: ProjectPage) -> None:
        """A project whose address no way of ours has set is given its webhook here."""
        if not project["webhook"]:
            raise _no_address()
        await event_statements.add_webhook(
            self._db, project["id"], encrypted(self._secrets, webhook_messages.new_secret(), project["id"])
        )

    async def _changed(
        self, project: ProjectPage, who: Requester, action: str, work: Callable[[Database], Awaitable[T]]
    ) -> T:
        rights.require(who, project["roles"], OWNERS)

        async def audited(tx: Database) -> T:
            result = await work(tx)
            await log_statements.write_act(tx, who, action, "project", project["id"], project_id=project["id"])
            return result

        result = await self._db.transaction(audited)
        self._notify(project["id"])
        return result


def _no_address() -> InvalidRequestError:
    return InvalidRequestError(
        "The project has no webhook.",
        code="no_webhook",
        hint="Set its address first: the attribute webhook of the project.",
    )


def state_view(row: WebhookState) -> Values:
    """A webhook as JSON; ``state`` is none (no address), on, failing or off."""
    on = "failing" if (row.failures or 0) >= webhook_retries.FAILING else "on"
    gap = 0 if row.gap_to is None or row.gap_from is None else row.gap_to - row.gap_from
    fed = 0 if row.replay_to is None or row.replay_from is None else row.replay_to - row.replay_from
    return _plain(
        {
            "project_id": row.project_id,
            "short_name": row.short_name,
            "url": row.url,
            "state": "none" if row.url is None else "off" if row.active is False else on,
            "why_off": row.why_off or "",
            "failures": row.failures or 0,
            "next_attempt": row.next_at if on == "failing" and row.active else None,
            "last_delivered": row.delivered,
            "n_events": row.n_events,
            "n_waiting": row.n_waiting + fed + (max(0, row.n_events - row.last_seq) if row.url else 0),
            "n_failed": row.n_failed,
            "n_missed": gap,
            "old_secret_until": row.old_secret_until,
        }
    )


def delivery_view(row: Delivery) -> Values:
    """A delivery as JSON: PyBossa's keys of a webhook's log, and what crowdd knows beside them.

    ``payload``, ``response``, ``response_status_code``, ``url``, ``problem`` and ``seconds`` are of the last attempt.
    """
    return _plain(
        {
            "id": row.id,
            "project_id": row.project_id,
            "created": row.created,
            "updated": row.at or row.created,
            "payload": exact_json.stored(row.body) if row.body else None,
            "response": row.answer,
            "response_status_code": row.status,
            "event": row.kind,
            "sequence": row.seq,
            "task_id": row.task_id,
            "message_id": webhook_messages.message_id(row),
            "state": row.state,
            "again": row.again,
            "attempts": row.attempts,
            "next_attempt": row.next_at if row.state == "waiting" else None,
            "url": row.url,
            "problem": row.problem,
            "seconds": row.seconds,
        }
    )


def _plain(values: Mapping[str, object]) -> Values:
    return {name: outward(value) for name, value in values.items()}


@attrs.frozen
class WebhookPart(ProjectPart):
    """The address of a project's webhook."""

    webhooks: Webhooks

    async def made(self, tx: Database, who: Requester, project_id: int, values: Values) -> None:
        await self.webhooks.follow(tx, project_id, None, values["webhook"] or None)

    async def changing(self, tx: Database, who: Requester, row: Row, changes: Values) -> None:
        if "webhook" in changes:
            await self.webhooks.follow(tx, row["id"], row["webhook"], changes["webhook"])
