"""Deliveries as the process that delivers sees them (definitions 71)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from crowdd.storage.database import Database, Prepared, fetch_row_or_none, fetch_rows
from crowdd.storage.webhooks.rows import Attempt, DueDelivery, ReceiverHealth, SwitchedOff

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


async def candidates(db: Database) -> list[int]:
    """Projects whose receivers may have something coming."""
    return [row["project_id"] for row in await db.fetch(_CANDIDATES)]


async def feed(db: Database, projects: Collection[int], maximum: int) -> None:
    """Makes deliveries of the next events of projects; of those that have no webhook nothing."""
    await db.fetch(
        "SELECT feed_deliveries(id, %(maximum)s, clock()) FROM unnest(%(projects)s::bigint[]) u(id)",
        {"projects": list(projects), "maximum": maximum},
    )


async def due(db: Database, project_id: int, room: int, busy: Sequence[int]) -> list[DueDelivery]:
    """The deliveries of a project that may be sent now, at most ``room``; ``busy`` are those that are being sent."""
    return await fetch_rows(db, DueDelivery, _DUE, {"project": project_id, "room": room, "busy": list(busy)})


async def delivered(db: Database, delivery: DueDelivery, attempt: Attempt) -> None:
    """Records an attempt that succeeded."""
    await db.fetch(
        f"WITH attempt AS ({_ATTEMPT}) SELECT note_delivered(%(project)s, %(delivery)s, clock())",
        {"project": delivery.project_id, "delivery": delivery.id, **attempt},
    )


async def health(db: Database, project_id: int, begun_seconds_ago: float) -> ReceiverHealth | None:
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


async def failed(
    db: Database, delivery: DueDelivery, attempt: Attempt, given_up: bool, delay: float, failures: int, pause: float
) -> None:
    """Records an attempt that failed, and what follows: the next one in ``delay`` seconds, or none.

    ``failures`` in a row and ``pause`` (seconds without any delivery, once it is failing) are the receiver's.
    """
    values = {"project": delivery.project_id, "delivery": delivery.id, "given_up": given_up, "delay": delay, **attempt}
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
        {"project": delivery.project_id, "failures": failures, "pause": pause},
    )


async def test_failed(db: Database, delivery: DueDelivery, attempt: Attempt) -> None:
    """Records a test that failed; it is made once, and does not count as a failure of the receiver."""
    values = {"project": delivery.project_id, "delivery": delivery.id, **attempt}
    await db.execute(_ATTEMPT, values)
    await db.execute(
        "UPDATE delivery SET attempts = 1, state = 'failed', finished = clock() WHERE project_id = %(project)s AND id = %(delivery)s",
        values,
    )


async def switch_off(db: Database, project_id: int, reason: str) -> SwitchedOff | None:
    """Ends deliveries to a receiver; whom to tell: short_name, name, email_addr, locale of the owner. None: it was off."""
    return await fetch_row_or_none(
        db,
        SwitchedOff,
        "UPDATE webhook w SET active = false, why_off = %(reason)s FROM project p JOIN account a ON a.id = p.owner_id"
        " WHERE p.id = w.project_id AND w.project_id = %(project)s AND w.active"
        " RETURNING p.id, p.short_name, p.name, a.email_addr, a.fullname, a.locale",
        {"project": project_id, "reason": reason},
    )


async def prune(db: Database, days: int, maximum: int, chunk: int = 2000) -> int:
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
