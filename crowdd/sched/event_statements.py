"""SQL of events (`webhooks/70_events.sql`) and of webhook deliveries (`webhooks/71_deliveries.sql`), with its rows.

Events are in the order of their numbers. Webhooks and deliveries are as the process that delivers sees them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TypedDict

import attrs

from crowdd.database.access import Database, Prepared, fetch_row_or_none, fetch_rows, one
from crowdd.kernel.values import JsonObject
from crowdd.sched.webhook_retries import ReceiverHealth, Verdict


def _bytes(value: bytes | memoryview | None) -> bytes | None:
    return None if value is None else bytes(value)


class Event(TypedDict):
    """What happened in a project."""

    project_id: int
    seq: int
    id: int
    kind: str
    task_id: int | None
    result_id: int | None
    at: datetime
    data: JsonObject


@attrs.frozen
class DueDelivery:
    """A delivery that may be sent now, with all that its message needs."""

    id: int
    project_id: int
    seq: int | None
    kind: str
    task_id: int | None
    attempts: int
    again: bool
    planned: datetime
    url: str
    short_name: str
    secret_encrypted: bytes = attrs.field(converter=bytes, repr=False)
    old_secret_encrypted: bytes | None = attrs.field(converter=_bytes, repr=False)
    result_id: int | None
    at: datetime
    data: JsonObject | None
    now: datetime


class Attempt(TypedDict):
    """What was sent to a receiver and what came back; ``status`` is None without a response."""

    url: str
    body: str
    status: int | None
    answer: str
    problem: str
    seconds: float


class LoggedAttempt(Attempt):
    """An attempt in the log."""

    at: datetime


@attrs.frozen
class SwitchedOff:
    """The project whose webhook was switched off, and its owner."""

    id: int
    short_name: str
    name: str
    email_addr: str
    fullname: str
    locale: str


@attrs.frozen
class WebhookState:
    """Address, health and counts of a webhook; the columns of the webhook are None where there never was an address."""

    project_id: int
    short_name: str
    name: str
    url: str | None
    owner_id: int
    active: bool | None
    why_off: str | None
    failures: int | None
    failed_at: datetime | None
    next_at: datetime | None
    last_seq: int
    gap_from: int | None
    gap_to: int | None
    replay_from: int | None
    replay_to: int | None
    old_secret_until: datetime | None
    n_events: int
    n_waiting: int
    n_failed: int
    delivered: datetime | None


@attrs.frozen
class WebhookSecrets:
    """The encrypted secrets that sign; the old one is None once it does not sign any more."""

    secret_encrypted: bytes = attrs.field(converter=bytes, repr=False)
    old_secret_encrypted: bytes | None = attrs.field(converter=_bytes, repr=False)


@attrs.frozen
class Delivery:
    """A delivery in the log with its last attempt, whose columns are None before the first."""

    id: int
    project_id: int
    event_id: int | None
    seq: int | None
    kind: str
    task_id: int | None
    created: datetime
    again: bool
    state: str
    attempts: int
    next_at: datetime
    finished: datetime | None
    at: datetime | None
    url: str | None
    body: str | None
    status: int | None
    answer: str | None
    problem: str | None
    seconds: float | None


# A project with something to do: events without a delivery, or deliveries that are due.
_CANDIDATES = Prepared("""
SELECT w.project_id FROM webhook w JOIN project p ON p.id = w.project_id
 WHERE p.webhook IS NOT NULL
   AND (w.active AND (w.replay_to IS NOT NULL OR w.last_seq < (SELECT last_seq FROM event_sequence s WHERE s.project_id = w.project_id))
        OR (w.active AND (w.failures < 2 OR w.next_at <= clock()) OR EXISTS (
                SELECT FROM delivery d WHERE d.project_id = w.project_id AND d.state = 'waiting' AND d.kind = 'ping'))
           AND EXISTS (SELECT FROM delivery d WHERE d.project_id = w.project_id AND d.state = 'waiting' AND d.next_at <= clock()))""")
_DUE = Prepared(
    """
SELECT d.id, d.project_id, d.seq, d.kind, d.task_id, d.attempts, d.again, d.next_at AS planned, p.webhook AS url, p.short_name,
       w.secret_encrypted, CASE WHEN w.old_secret_until > now_ THEN w.old_secret_encrypted END AS old_secret_encrypted,
       e.result_id, coalesce(e.at, d.created) AS at, event_data(e) AS data, now_ AS now
  FROM clock() now_
 CROSS JOIN LATERAL due_deliveries(%(project)s, %(room)s, %(busy)s::bigint[], now_) d
  JOIN project p ON p.id = d.project_id
  JOIN webhook w ON w.project_id = d.project_id
  LEFT JOIN event e ON e.project_id = d.project_id AND e.id = d.event_id
 WHERE p.webhook IS NOT NULL""",
    project="bigint",
    room="int",
    busy="bigint[]",
)
_ATTEMPT = """
INSERT INTO delivery_attempt (project_id, delivery_id, at, url, body, status, answer, problem, seconds)
SELECT project_id, id, clock(), %(url)s, %(body)s, %(status)s, %(answer)s, %(problem)s, %(seconds)s
  FROM delivery WHERE project_id = %(project)s AND id = %(delivery)s"""


async def list_candidates(db: Database) -> list[int]:
    """Projects whose receivers may have something coming."""
    return [row["project_id"] for row in await db.fetch(_CANDIDATES)]


_FEED = Prepared(
    "SELECT u.id FROM unnest(%(projects)s) u(id) WHERE CASE WHEN feed_deliveries(u.id, %(maximum)s, clock()) > 0 THEN true"
    " ELSE EXISTS (SELECT FROM delivery WHERE project_id = u.id AND state = 'waiting') END",
    projects="bigint[]",
    maximum="int",
)


async def feed_deliveries(db: Database, projects: Collection[int], maximum: int) -> set[int]:
    """Makes deliveries of the next events of projects that have a webhook; those of them that have any that wait."""
    rows = await db.fetch(_FEED, {"projects": list(projects), "maximum": maximum})
    return {row["id"] for row in rows}


async def list_due(db: Database, project_id: int, room: int, busy: Sequence[int]) -> list[DueDelivery]:
    """The deliveries of a project that may be sent now, at most ``room``; ``busy`` are those that are being sent."""
    return await fetch_rows(db, DueDelivery, _DUE, {"project": project_id, "room": room, "busy": list(busy)})


async def record_delivered(db: Database, delivery: DueDelivery, attempt: Attempt) -> None:
    """Records an attempt that succeeded."""
    await db.fetch(
        f"WITH attempt AS ({_ATTEMPT}) SELECT note_delivered(%(project)s, %(delivery)s, clock())",
        {"project": delivery.project_id, "delivery": delivery.id, **attempt},
    )


async def lock_health(db: Database, project_id: int, begun_seconds_ago: float) -> ReceiverHealth | None:
    """How a receiver did until now, locked: failures in a row, whether it is on, whether an attempt begun then overlaps the last.

    Of failures that overlap only the first counts, and only those that count are looked at here.
    """
    return await fetch_row_or_none(
        db,
        ReceiverHealth,
        "SELECT failures, active, coalesce(failed_at > clock() - make_interval(secs => %(ago)s), false) AS overlapping"
        " FROM webhook WHERE project_id = %(project)s FOR UPDATE",
        {"project": project_id, "ago": begun_seconds_ago},
    )


async def record_failed(db: Database, delivery: DueDelivery, attempt: Attempt, verdict: Verdict, pause: float) -> None:
    """Records an attempt that failed, and what follows of it.

    ``pause`` are seconds without any delivery to this receiver, once it is failing.
    """
    values = {
        "project": delivery.project_id,
        "delivery": delivery.id,
        "given_up": verdict.given_up,
        "delay": verdict.delay,
        **attempt,
    }
    await db.execute(_ATTEMPT, values)
    await db.execute(
        "UPDATE delivery SET attempts = attempts + 1, state = CASE WHEN %(given_up)s THEN 'failed' ELSE 'waiting' END,"
        " finished = CASE WHEN %(given_up)s THEN clock() END, next_at = clock() + make_interval(secs => %(delay)s)"
        " WHERE project_id = %(project)s AND id = %(delivery)s",
        values,
    )
    await db.execute(
        "UPDATE webhook SET failures = %(failures)s, failed_at = clock(), next_at = clock() + make_interval(secs => %(pause)s)"
        " WHERE project_id = %(project)s AND failures < %(failures)s",
        {"project": delivery.project_id, "failures": verdict.failures, "pause": pause},
    )


async def record_failed_test(db: Database, delivery: DueDelivery, attempt: Attempt) -> None:
    """Records a test that failed; it is made once, and does not count as a failure of the receiver."""
    values = {"project": delivery.project_id, "delivery": delivery.id, **attempt}
    await db.execute(_ATTEMPT, values)
    await db.execute(
        "UPDATE delivery SET attempts = 1, state = 'failed', finished = clock() WHERE project_id = %(project)s AND id = %(delivery)s",
        values,
    )


async def switch_off_receiver(db: Database, project_id: int, reason: str) -> SwitchedOff | None:
    """Ends deliveries to a receiver; whom to tell: short_name, name, email_addr, locale of the owner. None: it was off."""
    return await fetch_row_or_none(
        db,
        SwitchedOff,
        "UPDATE webhook w SET active = false, why_off = %(reason)s FROM project p JOIN account a ON a.id = p.owner_id"
        " WHERE p.id = w.project_id AND w.project_id = %(project)s AND w.active"
        " RETURNING p.id, p.short_name, p.name, a.email_addr, a.fullname, a.locale",
        {"project": project_id, "reason": reason},
    )


async def prune_deliveries(db: Database, days: int, maximum: int, chunk: int = 2000) -> int:
    """Removes finished deliveries that are older, or more in a project, than the log keeps, with their attempts."""
    old = await db.execute(
        "DELETE FROM delivery WHERE (project_id, id) IN (SELECT project_id, id FROM delivery"
        " WHERE finished < clock() - make_interval(days => %(days)s) LIMIT %(chunk)s)",
        {"days": days, "chunk": chunk},
    )
    return old + await db.execute(
        "DELETE FROM delivery WHERE (project_id, id) IN (SELECT d.project_id, d.id FROM webhook w CROSS JOIN LATERAL ("
        " SELECT project_id, id FROM delivery d WHERE d.project_id = w.project_id AND d.finished IS NOT NULL"
        " ORDER BY id DESC OFFSET %(maximum)s LIMIT %(chunk)s) d LIMIT %(chunk)s)",
        {"maximum": maximum, "chunk": chunk},
    )


_UNNUMBERED = Prepared("SELECT DISTINCT project_id FROM event WHERE seq IS NULL LIMIT 1000")


async def list_unnumbered(db: Database) -> list[int]:
    """Projects with events that have no number yet, a thousand of them."""
    rows = await db.fetch(_UNNUMBERED)
    return [row["project_id"] for row in rows]


_NEWLY_COMPLETE = Prepared(
    "SELECT project_id FROM complete_project LEFT JOIN event_sequence s USING (project_id) WHERE s.complete IS NOT true"
)


async def list_newly_complete(db: Database) -> list[int]:
    """Projects that are complete without an event having said so: their last open tasks were deleted, for example."""
    rows = await db.fetch(_NEWLY_COMPLETE)
    return [row["project_id"] for row in rows]


async def number_events(db: Database, project_id: int) -> int:
    """Numbers a project's events; returns how many got a number. Waits for another transaction that does the same."""
    row = await one(db, "SELECT number_events(%(project)s, clock()) AS n", {"project": project_id})
    return int(row["n"])


async def list_events_after(db: Database, project_id: int, seq: int, maximum: int) -> list[Event]:
    """The events after a number, in order."""
    return await fetch_rows(
        db,
        Event,
        "SELECT project_id, seq, id, kind, task_id, result_id, at, event_data(e) AS data FROM event e"
        " WHERE project_id = %(project)s AND seq > %(seq)s ORDER BY seq LIMIT %(maximum)s",
        {"project": project_id, "seq": seq, "maximum": maximum},
    )


async def find_last_seq(db: Database, project_id: int) -> int:
    """The number of a project's newest event; 0 without any."""
    row = await one(
        db,
        "SELECT coalesce((SELECT last_seq FROM event_sequence WHERE project_id = %(project)s), 0) AS seq",
        {"project": project_id},
    )
    return int(row["seq"])


async def add_webhook(db: Database, project_id: int, encrypted: bytes) -> bool:
    """The webhook of a project that has an address for the first time; what was before is its gap. False: it has one."""
    made = await db.execute(
        "INSERT INTO webhook (project_id, secret_encrypted, last_seq, gap_from, gap_to)"
        " SELECT %(project)s, %(secret)s, n, CASE WHEN n > 0 THEN 0 END, nullif(n, 0)"
        " FROM (SELECT coalesce((SELECT last_seq FROM event_sequence WHERE project_id = %(project)s), 0) AS n) x"
        " ON CONFLICT DO NOTHING",
        {"project": project_id, "secret": encrypted},
    )
    return made == 1


async def list_without_webhook(db: Database) -> list[int]:
    """Projects with an address that have no webhook yet."""
    rows = await db.fetch(
        "SELECT id FROM project p WHERE webhook IS NOT NULL AND NOT EXISTS (SELECT FROM webhook w WHERE w.project_id = p.id)"
    )
    return [row["id"] for row in rows]
