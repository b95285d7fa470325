"""SQL of addresses that are imported again and again, with its rows: when each is read, and with what outcome."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TypedDict

import attrs

from crowdd.database.access import Database, as_json, fetch_row_or_none, fetch_rows, one_or_none
from crowdd.kernel.values import JsonObject


@attrs.frozen
class ImportSource:
    """An address that is read again. ``choices`` are those of an import (``ImportChoices``), ``period`` is in seconds.

    ``etag``, ``last_modified`` and ``digest`` tell whether the file has changed since it was imported last.
    """

    id: int
    project_id: int
    user_id: int
    url: str
    period: int
    choices: JsonObject
    active: bool
    queue_item: int | None
    failures: int
    etag: str
    last_modified: str
    digest: str


@attrs.frozen
class DueSource:
    """A source that is to be read, in the name of a person."""

    id: int
    project_id: int
    user_id: int
    admin: bool


@attrs.frozen
class SourceMail:
    """Whom to write when a source is switched off: the project's owner."""

    name: str
    short_name: str
    url: str
    email_addr: str
    locale: str


class ListedSource(TypedDict):
    """A source for its owner. ``waits``: its project is paused. The figures are those of its last import, if any."""

    id: int
    url: str
    period: int
    active: bool
    why_off: str
    next_at: datetime
    reading: bool
    read_at: datetime | None
    outcome: str
    problem: str
    failures: int
    waits: bool
    import_id: int | None
    rows: int | None
    added: int | None
    updated: int | None
    present: int | None
    refused: int | None


_COLUMNS = "s.id, s.project_id, s.user_id, s.url, s.period, s.choices, s.active, s.queue_item, s.failures, s.etag, s.last_modified, s.digest"
# A project that is paused adds nothing: its sources wait until it goes on.
_READS = (
    "NOT EXISTS (SELECT FROM project p WHERE p.id = s.project_id AND NOT p.published AND p.first_published IS NOT NULL)"
)


async def insert_source(db: Database, values: Mapping[str, object], maximum: int) -> int | None:
    """The id of a source for a project, that of before for an address it has; None when it has ``maximum`` others."""
    row = await one_or_none(
        db,
        "INSERT INTO import_source (project_id, user_id, created, url, period, choices, next_at)"
        " SELECT %(project)s, %(user)s, clock(), %(url)s, %(period)s, %(choices)s, clock() + make_interval(secs => %(period)s)"
        " WHERE (SELECT count(*) FROM import_source WHERE project_id = %(project)s AND url <> %(url)s) < %(maximum)s"
        " ON CONFLICT (project_id, url) DO UPDATE SET user_id = excluded.user_id, period = excluded.period, choices = excluded.choices,"
        " active = true, why_off = '', failures = 0, problem = '', next_at = excluded.next_at, etag = '', last_modified = '', digest = '' RETURNING id",
        {**values, "choices": as_json(values["choices"]), "maximum": maximum},
    )
    return int(row["id"]) if row else None


async def list_sources(db: Database, project_id: int) -> list[ListedSource]:
    """The sources of a project, the oldest first, each with the figures of its last import."""
    return await fetch_rows(
        db,
        ListedSource,
        "SELECT s.id, s.url, s.period, s.active, s.why_off, s.next_at, s.queue_item IS NOT NULL AS reading, s.read_at, s.outcome, s.problem, s.failures,"
        f" NOT {_READS} AS waits, i.id AS import_id, i.rows, i.added, i.updated, i.present, i.refused FROM import_source s LEFT JOIN LATERAL ("
        "SELECT * FROM task_import i WHERE i.source_id = s.id AND i.ended IS NOT NULL ORDER BY i.id DESC LIMIT 1) i ON true"
        " WHERE s.project_id = %(project)s ORDER BY s.id",
        {"project": project_id},
    )


async def get_source(db: Database, source_id: int) -> ImportSource | None:
    """A source as its reading needs it."""
    sql = f"SELECT {_COLUMNS} FROM import_source s WHERE s.id = %(id)s"
    return await fetch_row_or_none(db, ImportSource, sql, {"id": source_id})


async def set_period(db: Database, project_id: int, source_id: int, period: int) -> bool:
    """Has it read in other intervals, from now on; False when there is none."""
    sql = (
        "UPDATE import_source SET period = %(period)s, next_at = clock() + make_interval(secs => %(period)s)"
        " WHERE project_id = %(project)s AND id = %(id)s"
    )
    return await db.execute(sql, {"project": project_id, "id": source_id, "period": period}) > 0


async def set_active(db: Database, project_id: int, source_id: int, active: bool, *, soon: bool = False) -> bool:
    """Pauses it, or lets it go on (``soon``: it is read at once); False when there is none."""
    sql = (
        "UPDATE import_source SET active = %(active)s, why_off = '', failures = 0,"
        " next_at = CASE WHEN %(soon)s THEN clock() WHEN %(active)s AND NOT active THEN clock() + make_interval(secs => period) ELSE next_at END"
        " WHERE project_id = %(project)s AND id = %(id)s"
    )
    return await db.execute(sql, {"project": project_id, "id": source_id, "active": active, "soon": soon}) > 0


async def delete_source(db: Database, project_id: int, source_id: int) -> bool:
    """Forgets it; its tasks stay. False when there is none."""
    sql = "DELETE FROM import_source WHERE project_id = %(project)s AND id = %(id)s"
    return await db.execute(sql, {"project": project_id, "id": source_id}) > 0


async def list_due_sources(db: Database, maximum: int) -> list[DueSource]:
    """Sources that are to be read now, locked until the transaction ends; never one that is being read."""
    return await fetch_rows(
        db,
        DueSource,
        "SELECT s.id, s.project_id, s.user_id, coalesce(a.admin, false) AS admin FROM import_source s LEFT JOIN account a ON a.id = s.user_id"
        f" WHERE s.active AND s.next_at <= clock() AND s.queue_item IS NULL AND {_READS}"
        " ORDER BY s.next_at LIMIT %(maximum)s FOR UPDATE OF s SKIP LOCKED",
        {"maximum": maximum},
    )


async def begin_reading(db: Database, source_id: int, queue_item: int) -> None:
    """Says which work reads it."""
    sql = "UPDATE import_source SET queue_item = %(item)s WHERE id = %(id)s"
    await db.execute(sql, {"id": source_id, "item": queue_item})


async def postpone_reading(db: Database, source_id: int, seconds: float) -> None:
    """Has it looked at again later."""
    sql = "UPDATE import_source SET next_at = clock() + make_interval(secs => %(seconds)s) WHERE id = %(id)s"
    await db.execute(sql, {"id": source_id, "seconds": seconds})


async def list_abandoned_sources(db: Database, maximum: int) -> list[ImportSource]:
    """Sources whose work ended without a word: it was cancelled, died, or is not there any more."""
    return await fetch_rows(
        db,
        ImportSource,
        f"SELECT {_COLUMNS} FROM import_source s WHERE s.queue_item IS NOT NULL AND NOT EXISTS ("
        "SELECT FROM queue_item q WHERE q.id = s.queue_item AND q.state IN ('waiting', 'running')) ORDER BY s.id LIMIT %(maximum)s",
        {"maximum": maximum},
    )


async def find_import(db: Database, source_id: int, queue_item: int) -> int | None:
    """The import that a work has made for a source."""
    row = await one_or_none(
        db,
        "SELECT id FROM task_import WHERE source_id = %(source)s AND queue_item = %(item)s ORDER BY id DESC LIMIT 1",
        {"source": source_id, "item": queue_item},
    )
    return int(row["id"]) if row else None


async def link_import(db: Database, import_id: int, source_id: int, queue_item: int) -> None:
    """Says that an import was read from a source, by which work; its rows are added when it has been read."""
    await db.execute(
        "UPDATE task_import SET source_id = %(source)s, queue_item = %(item)s, check_item = %(item)s WHERE id = %(id)s",
        {"id": import_id, "source": source_id, "item": queue_item},
    )


async def record_success(
    db: Database, source_id: int, queue_item: int | None, outcome: str, seconds: float, marks: Mapping[str, str]
) -> bool:
    """Writes down a reading that went well: when the next is due (in ``seconds``), and by what the file is known.

    False when the source is gone or taken over.
    """
    sql = (
        "UPDATE import_source SET queue_item = NULL, read_at = clock(), outcome = %(outcome)s, problem = '', failures = 0,"
        " next_at = clock() + make_interval(secs => %(seconds)s), etag = %(etag)s, last_modified = %(last_modified)s, digest = %(digest)s"
        " WHERE id = %(id)s AND queue_item = %(item)s"
    )
    values = {**marks, "id": source_id, "item": queue_item, "outcome": outcome, "seconds": seconds}
    return await db.execute(sql, values) > 0


async def record_failure(
    db: Database, source_id: int, queue_item: int | None, problem: str, seconds: float, why_off: str
) -> SourceMail | None:
    """Writes down a reading that failed; with ``why_off`` it is switched off. To whom to write of it, if anybody."""
    return await fetch_row_or_none(
        db,
        SourceMail,
        "WITH s AS (UPDATE import_source SET queue_item = NULL, read_at = clock(), outcome = 'failed', problem = left(%(problem)s, 500),"
        " failures = failures + 1, next_at = clock() + make_interval(secs => %(seconds)s), active = active AND %(why_off)s = '',"
        " why_off = left(%(why_off)s, 500) WHERE id = %(id)s AND queue_item IS NOT DISTINCT FROM %(item)s RETURNING project_id, url)"
        " SELECT p.name, p.short_name, s.url, a.email_addr, a.locale FROM s JOIN project p ON p.id = s.project_id JOIN account a ON a.id = p.owner_id",
        {"id": source_id, "item": queue_item, "problem": problem, "seconds": seconds, "why_off": why_off},
    )
