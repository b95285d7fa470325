"""Webhooks as their owners see them: address, secrets, state, and the log of deliveries."""

from __future__ import annotations

from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.database.access import Database, fetch_row_or_none, fetch_rows, one
from crowdd.sched.event_statements import Delivery, LoggedAttempt, WebhookSecrets, WebhookState

_STATE = """
SELECT p.id AS project_id, p.short_name, p.name, p.webhook AS url, p.owner_id, w.active, w.why_off, w.failures, w.failed_at, w.next_at,
       coalesce(w.last_seq, 0) AS last_seq, w.gap_from, w.gap_to, w.replay_from, w.replay_to, w.old_secret_until,
       coalesce((SELECT last_seq FROM event_sequence s WHERE s.project_id = p.id), 0) AS n_events,
       (SELECT count(*) FROM delivery d WHERE d.project_id = p.id AND d.state = 'waiting') AS n_waiting,
       (SELECT count(*) FROM delivery d WHERE d.project_id = p.id AND d.state = 'failed') AS n_failed,
       (SELECT max(finished) FROM delivery d WHERE d.project_id = p.id AND d.state = 'delivered') AS delivered
  FROM project p LEFT JOIN webhook w ON w.project_id = p.id"""
_TROUBLE = ("(NOT active)", "failures", "project_id")  # the index webhook_trouble
_DELIVERY = """
SELECT d.id, d.project_id, d.event_id, d.seq, d.kind, d.task_id, d.created, d.again, d.state, d.attempts, d.next_at, d.finished,
       a.at, a.url, a.body, a.status, a.answer, a.problem, a.seconds
  FROM delivery d
  LEFT JOIN LATERAL (SELECT * FROM delivery_attempt a WHERE a.project_id = d.project_id AND a.delivery_id = d.id
                      ORDER BY a.id DESC LIMIT 1) a ON true"""


async def begin(db: Database, project_id: int) -> None:
    """Begins again after the address was set again: events since then are its gap."""
    await db.execute(
        "UPDATE webhook w SET last_seq = s.last_seq,"
        " gap_from = CASE WHEN s.last_seq > w.last_seq OR gap_to IS NOT NULL THEN coalesce(gap_from, w.last_seq) END,"
        " gap_to = CASE WHEN s.last_seq > w.last_seq OR gap_to IS NOT NULL THEN s.last_seq END"
        " FROM event_sequence s WHERE s.project_id = w.project_id AND w.project_id = %(project)s",
        {"project": project_id},
    )


async def switch_on(db: Database, project_id: int) -> None:
    """Switches a webhook on: earlier failures do not count any more, and waiting deliveries are due now."""
    await db.execute(
        "UPDATE webhook SET active = true, why_off = '', failures = 0, failed_at = NULL, next_at = NULL WHERE project_id = %(project)s",
        {"project": project_id},
    )
    await db.execute(
        "UPDATE delivery SET next_at = clock(), attempts = 0 WHERE project_id = %(project)s AND state = 'waiting' AND kind <> 'ping'",
        {"project": project_id},
    )


async def state(db: Database, project_id: int) -> WebhookState | None:
    """Address, health and counts; the webhook's columns are null for a project that never had an address."""
    return await fetch_row_or_none(db, WebhookState, f"{_STATE} WHERE p.id = %(project)s", {"project": project_id})


async def states(db: Database) -> list[WebhookState]:
    """The same of every project that has or had an address, those that are switched off or fail first."""
    return await fetch_rows(
        db,
        WebhookState,
        f"{_STATE} WHERE w.project_id IS NOT NULL OR p.webhook IS NOT NULL"
        " ORDER BY w.active, w.failures DESC, p.short_name LIMIT 1000",
    )


async def page(db: Database, place: Keyset) -> KeysetPage[WebhookState]:
    """A page of the webhooks, in descending order those first that are switched off or fail."""
    rows = await fetch_rows(
        db,
        WebhookState,
        f"{_STATE} JOIN (SELECT project_id AS id, row_number() OVER () AS nth FROM (SELECT project_id FROM webhook"
        f" WHERE {place.beside('webhook', 'project_id', _TROUBLE)} {place.limited(_TROUBLE)}) x) here ON here.id = p.id ORDER BY here.nth",
        place.values(),
    )
    return place.part(rows)


async def secrets(db: Database, project_id: int) -> WebhookSecrets | None:
    """The encrypted secrets that sign."""
    return await fetch_row_or_none(
        db,
        WebhookSecrets,
        "SELECT secret_encrypted, CASE WHEN old_secret_until > clock() THEN old_secret_encrypted END AS old_secret_encrypted"
        " FROM webhook WHERE project_id = %(project)s",
        {"project": project_id},
    )


async def rotate(db: Database, project_id: int, encrypted: bytes, hours: int) -> bool:
    """A new secret; the one until now signs beside it for so many hours. False: there is no webhook."""
    changed = await db.execute(
        "UPDATE webhook SET old_secret_encrypted = secret_encrypted, old_secret_until = clock() + make_interval(hours => %(hours)s),"
        " secret_encrypted = %(secret)s WHERE project_id = %(project)s",
        {"project": project_id, "secret": encrypted, "hours": hours},
    )
    return changed == 1


async def deliveries(db: Database, project_id: int, place: Keyset, only: str | None) -> KeysetPage[Delivery]:
    """A page of the deliveries of a project, each with its last attempt; ``only`` is a state."""
    state = "" if only is None else " AND d.state = %(only)s"
    rows = await fetch_rows(
        db,
        Delivery,
        f"{_DELIVERY} WHERE d.project_id = %(project)s{state} AND {place.beside('delivery', 'd.id', ('d.id',))}"
        f" {place.limited(('d.id',))}",
        {"project": project_id, "only": only, **place.values()},
    )
    return place.part(rows)


async def delivery(db: Database, project_id: int, delivery_id: int) -> Delivery | None:
    """One delivery with its last attempt."""
    return await fetch_row_or_none(
        db,
        Delivery,
        f"{_DELIVERY} WHERE d.project_id = %(project)s AND d.id = %(delivery)s",
        {"project": project_id, "delivery": delivery_id},
    )


async def attempts(db: Database, project_id: int, delivery_id: int) -> list[LoggedAttempt]:
    """The attempts of a delivery, the oldest first."""
    return await fetch_rows(
        db,
        LoggedAttempt,
        "SELECT at, url, body, status, answer, problem, seconds FROM delivery_attempt"
        " WHERE project_id = %(project)s AND delivery_id = %(delivery)s ORDER BY id",
        {"project": project_id, "delivery": delivery_id},
    )


async def ping(db: Database, project_id: int) -> int:
    """The id of a test delivery, due now."""
    row = await one(
        db,
        "INSERT INTO delivery (project_id, kind, created, next_at) VALUES (%(project)s, 'ping', clock(), clock()) RETURNING id",
        {"project": project_id},
    )
    return int(row["id"])


_AGAIN = "state = 'waiting', attempts = 0, again = true, finished = NULL, next_at = clock()"


async def again(db: Database, project_id: int, delivery_id: int) -> bool:
    """Sends one once more; one that is waiting goes now. False: there is none."""
    done = await db.execute(
        f"UPDATE delivery SET {_AGAIN} WHERE project_id = %(project)s AND id = %(delivery)s",
        {"project": project_id, "delivery": delivery_id},
    )
    return done == 1


async def all_failed_again(db: Database, project_id: int) -> int:
    """Sends every failed delivery once more, but for tests; returns how many there are."""
    return await db.execute(
        f"UPDATE delivery SET {_AGAIN} WHERE project_id = %(project)s AND state = 'failed' AND kind <> 'ping'",
        {"project": project_id},
    )


async def replay(db: Database, project_id: int, after: int, upto: int, *, only_missing: bool) -> bool:
    """Sends the events after a number and up to another once more. False: another such range is still under way."""
    done = await db.execute(
        "UPDATE webhook SET replay_from = %(after)s, replay_to = %(upto)s, replay_missing = %(missing)s,"
        " gap_from = CASE WHEN %(missing)s THEN NULL ELSE gap_from END, gap_to = CASE WHEN %(missing)s THEN NULL ELSE gap_to END"
        " WHERE project_id = %(project)s AND replay_to IS NULL",
        {"project": project_id, "after": after, "upto": upto, "missing": only_missing},
    )
    return done == 1
