"""Items of the queue: long work that must end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crowdd.requester import Requester
from crowdd.storage.core import batch_delete
from crowdd.storage.core.keyset import Keyset, KeysetPage
from crowdd.storage.core.rows import ClaimedItem, ItemProgress, QueueItem
from crowdd.storage.database import Database, Prepared, as_json, fetch_row_or_none, fetch_rows, one, one_or_none

LOST_SECONDS = 60
"""An item whose worker gave no sign of life for so long goes to another one."""

_NEWEST = Keyset(20)
_UNFINISHED = "state IN ('waiting', 'running')"
_ALIVE = f"clock() + interval '{LOST_SECONDS} seconds'"
_LOCK = "hashtextextended('queue worker ' || {}, 0)"
_OURS = "id = %(id)s AND attempt = %(attempt)s AND state = 'running'"
_FIGURES = (
    "q.id, q.name, q.arguments, q.project_id, q.user_id, a.name AS user_name, q.via, q.state, q.created, q.due, q.began, q.ended, q.attempt,"
    " q.failures, q.cancel, q.done, q.total, q.done_before, q.progressed, q.checkpoint, q.result, q.error"
)
_ITEMS = f"SELECT {_FIGURES} FROM queue_item q LEFT JOIN account a ON a.id = q.user_id"
# One's own items, and those of one's projects.
_OWN = (
    "(q.user_id = %(me)s OR EXISTS (SELECT FROM project p WHERE p.id = q.project_id AND %(me)s = ANY (p.owners_ids)))"
)
_MAY_SEE = f"(%(is_admin)s OR {_OWN})"
# Who has the fewest under way comes first: nobody's hundred imports hold up somebody else's one.
# A running item is free before its time when nobody holds the lock of its worker: the lock is asked for and let go.
_CLAIM = Prepared(
    f"""
WITH busy AS (
    SELECT user_id, count(*) AS n FROM queue_item WHERE state = 'running' AND due > clock() GROUP BY 1
), orphaned AS MATERIALIZED (
    SELECT id, attempt FROM queue_item WHERE state = 'running' AND due > clock() AND worker IS NOT NULL
       AND pg_try_advisory_xact_lock_shared({_LOCK.format("worker")})
), next AS (
    SELECT q.id FROM queue_item q LEFT JOIN busy b ON b.user_id IS NOT DISTINCT FROM q.user_id
     WHERE q.{_UNFINISHED} AND q.name = ANY (%(names)s)
       AND (q.due <= clock() OR q.state = 'running' AND (q.id, q.attempt) IN (SELECT id, attempt FROM orphaned))
     ORDER BY coalesce(b.n, 0), q.due, q.id LIMIT 1 FOR UPDATE OF q SKIP LOCKED
), mine AS (
    UPDATE queue_item q SET state = 'running', attempt = q.attempt + 1, failures = q.failures + (q.state = 'running')::int,
           began = clock(), due = {_ALIVE}, done_before = q.done, progressed = NULL, worker = %(worker)s
      FROM next WHERE q.id = next.id RETURNING q.*
)
SELECT m.id, m.name, m.arguments, m.project_id, m.user_id, m.attempt, m.failures, m.cancel, m.done, m.total, m.checkpoint, a.name AS user_name, a.fullname, a.email_addr, a.locale, m.admin AND coalesce(a.admin, m.user_id IS NULL) AS is_admin,
       coalesce(a."restrict", false) AS blocked
  FROM mine m LEFT JOIN account a ON a.id = m.user_id""",
    names="text[]",
    worker="text",
)


async def add(
    db: Database, name: str, arguments: Mapping[str, object], who: Requester, project_id: int | None, maximum: int
) -> int | None:
    """The id of a new item; None when the requester has ``maximum`` unfinished ones already."""
    row = await one_or_none(
        db,
        "INSERT INTO queue_item (name, arguments, project_id, user_id, admin, via, created, due)"
        " SELECT %(name)s, %(arguments)s, %(project)s, %(me)s, %(is_admin)s, %(via)s, clock(), clock()"
        f" WHERE (SELECT count(*) FROM queue_item WHERE user_id IS NOT DISTINCT FROM %(me)s AND {_UNFINISHED}) < %(maximum)s RETURNING id",
        {
            "name": name,
            "arguments": as_json(arguments),
            "project": project_id,
            "me": who.acting_user,
            "is_admin": who.acting_admin,
            "via": who.via,
            "maximum": maximum,
        },
    )
    return int(row["id"]) if row else None


async def hold_presence(session: Database, worker: str) -> bool:
    """Whether the session shows that the worker is alive: it takes the worker's lock unless it has it already.

    ``session`` is a database of one connection. The lock ends with the connection, and so does the note that it is held.
    """
    row = await one(
        session,
        "SELECT CASE WHEN current_setting('crowdd.worker', true) = %(worker)s THEN true"
        f" WHEN pg_try_advisory_lock({_LOCK.format('%(worker)s::text')})"
        " THEN set_config('crowdd.worker', %(worker)s, false) = %(worker)s ELSE false END AS held",
        {"worker": worker},
    )
    return bool(row["held"])


async def claim(db: Database, names: list[str], worker: str | None = None) -> ClaimedItem | None:
    """The next item that is due and has one of these names, now the caller's; None when there is none.

    ``worker`` is the name of a lock that the caller's process holds (``hold_presence``). An item whose worker's lock is
    free is due at once: its process has died.
    With it come ``user_name``, ``fullname``, ``email_addr``, ``locale``, ``blocked`` of its account and ``is_admin``, as of now.
    """
    return await fetch_row_or_none(db, ClaimedItem, _CLAIM, {"names": names, "worker": worker})


async def progress(
    db: Database, item_id: int, attempt: int, done: int, total: int | None, checkpoint: object
) -> ItemProgress | None:
    """Saves how far an attempt has come and prolongs it; None when the item is not its own any more.

    The row says ``cancel`` (it is to stop) and ``failures``, which getting further than ever before forgives. A checkpoint that is None leaves the one that is there.
    """
    return await fetch_row_or_none(
        db,
        ItemProgress,
        "UPDATE queue_item SET done = %(done)s, total = %(total)s, checkpoint = coalesce(%(checkpoint)s, checkpoint),"
        f" progressed = clock(), due = {_ALIVE}, furthest = greatest(furthest, %(done)s),"
        " failures = CASE WHEN %(done)s > furthest THEN 0 ELSE failures END"
        f" WHERE {_OURS} RETURNING cancel, failures",
        {
            "id": item_id,
            "attempt": attempt,
            "done": done,
            "total": total,
            "checkpoint": None if checkpoint is None else as_json(checkpoint),
        },
    )


async def heartbeat(db: Database, item_id: int, attempt: int) -> bool:
    """Prolongs an attempt; False when the item is not its own any more."""
    sql = f"UPDATE queue_item SET due = {_ALIVE} WHERE {_OURS}"
    return await db.execute(sql, {"id": item_id, "attempt": attempt}) > 0


async def cancelled(db: Database, item_id: int) -> bool:
    """Whether somebody has asked a running item to stop."""
    return bool(await db.fetch("SELECT FROM queue_item WHERE id = %(id)s AND cancel", {"id": item_id}))


async def end(db: Database, item_id: int, attempt: int, state: str, error: str, result: object) -> bool:
    """Ends an item for good (done, dead, cancelled); False when it is not the attempt's own any more."""
    sql = (
        "UPDATE queue_item SET state = %(state)s, ended = clock(), error = %(error)s, result = %(result)s,"
        f" done = CASE WHEN %(state)s = 'done' THEN coalesce(total, done) ELSE done END WHERE {_OURS}"
    )
    stored = None if result is None else as_json(result)
    values = {"id": item_id, "attempt": attempt, "state": state, "error": error, "result": stored}
    return await db.execute(sql, values) > 0


async def put_back(db: Database, item_id: int, attempt: int, seconds: float, error: str, failed: bool) -> bool:
    """Lets an item wait for another attempt, for so many seconds; False when it is not the attempt's own any more."""
    sql = (
        "UPDATE queue_item SET state = 'waiting', due = clock() + make_interval(secs => %(seconds)s), failures = failures + %(failed)s::int,"
        f" error = CASE WHEN %(failed)s THEN %(error)s ELSE error END WHERE {_OURS}"
    )
    values = {"id": item_id, "attempt": attempt, "seconds": seconds, "error": error, "failed": failed}
    return await db.execute(sql, values) > 0


# For those who wait ----------------------------------------------------------------------------------------------------


async def list_queue(
    db: Database,
    who: Requester,
    *,
    everybodys: bool = False,
    state: str | None = None,
    name: str | None = None,
    project_id: int | None = None,
    place: Keyset = _NEWEST,
) -> KeysetPage[QueueItem]:
    """A page of items: the requester's and those of projects they own; ``everybodys`` is for administrators."""
    where = [_MAY_SEE if everybodys else _OWN]
    chosen = {"q.state": state, "q.name": name, "q.project_id": project_id}
    where += [f"{column} = %({column[2:]})s" for column, value in chosen.items() if value is not None]
    where.append(place.beside("queue_item", "q.id", ("q.id",)))
    values = {**who.role_values(), **{column[2:]: value for column, value in chosen.items()}}
    sql = f"{_ITEMS} WHERE {' AND '.join(where)} {place.limited(('q.id',))}"
    return place.part(await fetch_rows(db, QueueItem, sql, {**values, **place.values()}))


async def one_of(db: Database, who: Requester, item_id: int) -> QueueItem | None:
    """An item that the requester may see."""
    return await fetch_row_or_none(
        db, QueueItem, f"{_ITEMS} WHERE q.id = %(id)s AND {_MAY_SEE}", {**who.role_values(), "id": item_id}
    )


async def cancel(db: Database, item_id: int) -> bool:
    """Ends a waiting item, asks a running one to stop; False when it has ended."""
    return bool(await cancel_each(db, [item_id]))


async def cancel_each(db: Database, ids: Sequence[int]) -> list[int]:
    """The same of several items; the ids of those that had not ended."""
    return await _change_each(
        db,
        "cancel = true, state = CASE state WHEN 'waiting' THEN 'cancelled' ELSE state END,"
        " ended = CASE state WHEN 'waiting' THEN clock() END",
        _UNFINISHED,
        ids,
    )


async def retry(db: Database, item_id: int) -> bool:
    """Lets an item that is dead or was cancelled wait again, from its checkpoint; False for others."""
    return bool(await retry_each(db, [item_id]))


async def retry_each(db: Database, ids: Sequence[int]) -> list[int]:
    """The same of several items; the ids of those that were dead or cancelled."""
    changes = "state = 'waiting', due = clock(), failures = 0, cancel = false, ended = NULL"
    return await _change_each(db, changes, "state IN ('dead', 'cancelled')", ids)


async def _change_each(db: Database, changes: str, where: str, ids: Sequence[int]) -> list[int]:
    """Locks the items in one order, so that two who change the same ones never wait for each other."""
    rows = await db.fetch(
        f"UPDATE queue_item SET {changes} WHERE id IN (SELECT id FROM queue_item"
        f" WHERE id = ANY (%(ids)s::bigint[]) AND {where} ORDER BY id FOR UPDATE) RETURNING id",
        {"ids": list(ids)},
    )
    return [row["id"] for row in rows]


async def dead_letter_unknown(db: Database, names: list[str], hours: int, error: str) -> int:
    """Ends items that no server of this version can do and that have waited so long."""
    sql = (
        "UPDATE queue_item SET state = 'dead', ended = clock(), error = %(error)s"
        " WHERE state = 'waiting' AND NOT name = ANY (%(names)s) AND due <= clock() - make_interval(hours => %(hours)s)"
    )
    return await db.execute(sql, {"names": names, "hours": hours, "error": error})


async def sweep(db: Database, days: int, dead_days: int) -> int:
    """Removes items that ended so long ago, and how many."""
    old = "ended < clock() - make_interval(days => CASE state WHEN 'dead' THEN %(dead_days)s ELSE %(days)s END)"
    return await batch_delete.sweep(db, "queue_item", old, {"days": days, "dead_days": dead_days})
