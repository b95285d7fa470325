"""The events of a project, in the order of their numbers (definitions 70)."""

from __future__ import annotations

from collections.abc import Mapping

from crowdd.storage.database import Database, Prepared, as_json, fetch_rows, one
from crowdd.storage.webhooks.rows import Event


async def add(db: Database, project_id: int, kind: str, data: Mapping[str, object]) -> None:
    """An event of the transaction that is under way; the sequencer numbers it after the commit."""
    await db.execute(
        "INSERT INTO event (project_id, kind, at, data) VALUES (%(project)s, %(kind)s, clock(), %(data)s)",
        {"project": project_id, "kind": kind, "data": as_json(data)},
    )


async def unnumbered(db: Database, maximum: int = 1000) -> list[int]:
    """Projects with events that have no number yet."""
    rows = await db.fetch(
        "SELECT DISTINCT project_id FROM event WHERE seq IS NULL LIMIT %(maximum)s", {"maximum": maximum}
    )
    return [row["project_id"] for row in rows]


_NEWLY_COMPLETE = Prepared(
    "SELECT project_id FROM complete_project LEFT JOIN event_sequence s USING (project_id) WHERE s.complete IS NOT true"
)


async def newly_complete(db: Database) -> list[int]:
    """Projects that are complete without an event having said so: their last open tasks were deleted, for example."""
    rows = await db.fetch(_NEWLY_COMPLETE)
    return [row["project_id"] for row in rows]


async def number(db: Database, project_id: int) -> int:
    """Numbers a project's events; returns how many got a number. Waits for another transaction that does the same."""
    row = await one(db, "SELECT number_events(%(project)s, clock()) AS n", {"project": project_id})
    return int(row["n"])


async def after(db: Database, project_id: int, seq: int, maximum: int) -> list[Event]:
    """The events after a number, in order."""
    return await fetch_rows(
        db,
        Event,
        "SELECT project_id, seq, id, kind, task_id, result_id, at, event_data(e) AS data FROM event e"
        " WHERE project_id = %(project)s AND seq > %(seq)s ORDER BY seq LIMIT %(maximum)s",
        {"project": project_id, "seq": seq, "maximum": maximum},
    )


async def last_seq(db: Database, project_id: int) -> int:
    """The number of a project's newest event; 0 without any."""
    row = await one(
        db,
        "SELECT coalesce((SELECT last_seq FROM event_sequence WHERE project_id = %(project)s), 0) AS seq",
        {"project": project_id},
    )
    return int(row["seq"])
