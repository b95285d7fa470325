"""SQL of background tasks, periodic jobs, figures for monitoring, and rows that depend on the clock or are stale.

Each figure costs an index scan of what is under way. Stale rows of the ledger are rights to answer late, scan positions
and links (`tasks/38_stale_rows.sql`, `tasks/23_same_person.sql`). A clock that was set back is in definitions/server/74_clock.sql, jobs are in
definitions/server/70_jobs.sql.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from crowdd.core.records import statements as record_statements
from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.core.rows import ClaimedItem, ItemProgress, QueueItem
from crowdd.database.access import (
    Database,
    Prepared,
    as_json,
    fetch_row,
    fetch_row_or_none,
    fetch_rows,
    one,
    one_or_none,
)
from crowdd.kernel.requester import Requester
from crowdd.sched.rows import BegunJob, EndedJob, JobRun, JobState, JobWait, QueueFilter, ServerFigures

LOST_SECONDS = 60
"""An item whose worker gave no sign of life for so long goes to another one."""

_UNFINISHED = "state IN ('waiting', 'running')"
_ALIVE = f"clock() + interval '{LOST_SECONDS} seconds'"
_LOCK = "hashtextextended('queue worker ' || {}, 0)"
_OURS = "id = %(id)s AND attempt = %(attempt)s AND state = 'running'"
_ITEM_COLUMNS = (
    "q.id, q.name, q.arguments, q.project_id, q.user_id, a.name AS user_name, q.via, q.state, q.created, q.due, q.began, q.ended, q.attempt,"
    " q.failures, q.cancel, q.done, q.total, q.done_before, q.progressed, q.checkpoint, q.result, q.error"
)
_ITEMS = f"SELECT {_ITEM_COLUMNS} FROM queue_item q LEFT JOIN account a ON a.id = q.user_id"
# One's own items, and those of one's projects.
_OWN = (
    "(q.user_id = %(me)s OR EXISTS (SELECT FROM project p WHERE p.id = q.project_id AND %(me)s = ANY (p.owners_ids)))"
)
_MAY_SEE = f"(%(is_admin)s OR {_OWN})"
# The account with the fewest tasks under way comes first: a hundred imports of one do not hold up one of another.
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


async def insert_item(
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


async def claim_item(db: Database, names: list[str], worker: str | None = None) -> ClaimedItem | None:
    """The next item that is due and has one of these names, now the caller's; None when there is none.

    ``worker`` is the name of a lock that the caller's process holds (``hold_presence``). An item whose worker's lock is
    free is due at once: its process has died.
    With it come ``user_name``, ``fullname``, ``email_addr``, ``locale``, ``blocked`` of its account and ``is_admin``, as of now.
    """
    return await fetch_row_or_none(db, ClaimedItem, _CLAIM, {"names": names, "worker": worker})


async def save_progress(
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


async def prolong_item(db: Database, item_id: int, attempt: int) -> bool:
    """Prolongs an attempt; False when the item is not its own any more."""
    sql = f"UPDATE queue_item SET due = {_ALIVE} WHERE {_OURS}"
    return await db.execute(sql, {"id": item_id, "attempt": attempt}) > 0


async def is_cancelled(db: Database, item_id: int) -> bool:
    """Whether somebody has asked a running item to stop."""
    return bool(await db.fetch("SELECT FROM queue_item WHERE id = %(id)s AND cancel", {"id": item_id}))


async def end_item(db: Database, item_id: int, attempt: int, state: str, error: str, result: object) -> bool:
    """Ends an item for good (done, dead, cancelled); False when it is not the attempt's own any more."""
    sql = (
        "UPDATE queue_item SET state = %(state)s, ended = clock(), error = %(error)s, result = %(result)s,"
        f" done = CASE WHEN %(state)s = 'done' THEN coalesce(total, done) ELSE done END WHERE {_OURS}"
    )
    stored = None if result is None else as_json(result)
    values = {"id": item_id, "attempt": attempt, "state": state, "error": error, "result": stored}
    return await db.execute(sql, values) > 0


async def put_back_item(db: Database, item_id: int, attempt: int, seconds: float, error: str, failed: bool) -> bool:
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
    wanted: QueueFilter,
    place: Keyset,
) -> KeysetPage[QueueItem]:
    """A page of items: the requester's and those of projects they own; ``everybodys`` is for administrators."""
    where = [_MAY_SEE if wanted.everybodys else _OWN]
    chosen = {"q.state": wanted.state, "q.name": wanted.name, "q.project_id": wanted.project_id}
    where += [f"{column} = %({column[2:]})s" for column, value in chosen.items() if value is not None]
    where.append(place.beside("queue_item", "q.id", ("q.id",)))
    values = {**who.role_values(), **{column[2:]: value for column, value in chosen.items()}}
    sql = f"{_ITEMS} WHERE {' AND '.join(where)} {place.limited(('q.id',))}"
    return place.part(await fetch_rows(db, QueueItem, sql, {**values, **place.values()}))


async def find_item(db: Database, who: Requester, item_id: int) -> QueueItem | None:
    """An item that the requester may see."""
    return await fetch_row_or_none(
        db, QueueItem, f"{_ITEMS} WHERE q.id = %(id)s AND {_MAY_SEE}", {**who.role_values(), "id": item_id}
    )


async def cancel_item(db: Database, item_id: int) -> bool:
    """Ends a waiting item, asks a running one to stop; False when it has ended."""
    return bool(await cancel_items(db, [item_id]))


async def cancel_items(db: Database, ids: Sequence[int]) -> list[int]:
    """The same of several items; the ids of those that had not ended."""
    return await _change_each(
        db,
        "cancel = true, state = CASE state WHEN 'waiting' THEN 'cancelled' ELSE state END,"
        " ended = CASE state WHEN 'waiting' THEN clock() END",
        _UNFINISHED,
        ids,
    )


async def retry_item(db: Database, item_id: int) -> bool:
    """Lets an item that is dead or was cancelled wait again, from its checkpoint; False for others."""
    return bool(await retry_items(db, [item_id]))


async def retry_items(db: Database, ids: Sequence[int]) -> list[int]:
    """The same of several items; the ids of those that were dead or cancelled."""
    changes = "state = 'waiting', due = clock(), failures = 0, cancel = false, ended = NULL"
    return await _change_each(db, changes, "state IN ('dead', 'cancelled')", ids)


async def discard_item(db: Database, item_id: int) -> bool:
    """Counts an item that is dead as cancelled; False for others."""
    return bool(await _change_each(db, "state = 'cancelled'", "state = 'dead'", [item_id]))


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


async def sweep_items(db: Database, days: int, dead_days: int) -> int:
    """Removes items that ended so long ago, and how many."""
    old = "ended < clock() - make_interval(days => CASE state WHEN 'dead' THEN %(dead_days)s ELSE %(days)s END)"
    return await record_statements.delete_in_batches(db, "queue_item", old, {"days": days, "dead_days": dead_days})


async def follow_clock(db: Database) -> float:
    """By how many seconds the clock was set back since the last call; 0 if it went on. Rows that wait are corrected."""
    return float((await one(db, "SELECT follow_clock(clock()) AS back"))["back"])


_FIGURES = """
SELECT (SELECT count(*) FROM queue_item WHERE state IN ('waiting', 'running') AND state = 'waiting') AS queue_waiting,
       (SELECT count(*) FROM queue_item WHERE state IN ('waiting', 'running') AND state = 'running') AS queue_running,
       (SELECT coalesce(extract(epoch FROM now_ - min(due)), 0)::float8 FROM queue_item
         WHERE state IN ('waiting', 'running') AND state = 'waiting' AND due <= now_) AS queue_late,
       (SELECT count(*) FROM delivery WHERE state = 'waiting') AS deliveries_waiting,
       (SELECT coalesce(extract(epoch FROM now_ - min(next_at)), 0)::float8 FROM delivery
         WHERE state = 'waiting' AND next_at <= now_) AS deliveries_late,
       (SELECT count(*) FROM webhook w JOIN project p ON p.id = w.project_id
         WHERE p.webhook IS NOT NULL AND w.failures > 0) AS webhooks_failing,
       (SELECT count(*) FROM mail WHERE state = 'waiting') AS mail_waiting,
       (SELECT count(*) FROM lease WHERE expires > now_) AS leases,
       (SELECT coalesce(extract(epoch FROM max(snapshot_at)), 0)::float8 FROM backup) AS last_backup,
       (SELECT count(*) FROM stat_delta) AS unfolded
  FROM clock() now_"""


async def read_figures(db: Database) -> ServerFigures:
    """How many items, deliveries, letters and leases there are, and how late the oldest is (seconds)."""
    return await fetch_row(db, ServerFigures, _FIGURES)


async def is_read_only(db: Database) -> bool:
    """Whether the database takes no changes: a standby, or told so by its operator."""
    row = await one(db, "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS closed")
    return bool(row["closed"])


async def list_first_waits(db: Database, periods: Mapping[str, float]) -> dict[str, float]:
    """In how many seconds to look at each of these jobs, by their periods; new ones are added, as ``begin_job`` does.

    A job that another process adds at the same moment is left out, and one that is said to be running is due at once,
    as is one that is due later than its period allows: the clock was set back. Rows are added by name, so that two
    processes that start with other jobs wait for each other in one direction only.
    """
    rows = await fetch_rows(
        db,
        JobWait,
        "WITH added AS (INSERT INTO job (name, due) SELECT name, clock() + make_interval(secs => least(period, 60))"
        " FROM unnest(%(names)s::text[], %(periods)s::float8[]) given (name, period)"
        " ORDER BY name ON CONFLICT DO NOTHING RETURNING name, due)"
        " SELECT name, greatest(0, extract(epoch FROM due - clock()))::float8 AS wait FROM added"
        " UNION ALL SELECT name, CASE WHEN outcome = 'running' OR due > latest_due(period, clock()) THEN 0"
        " ELSE greatest(0, extract(epoch FROM due - clock())) END::float8"
        " FROM job JOIN unnest(%(names)s::text[], %(periods)s::float8[]) given (name, period) USING (name)",
        {"names": [*periods], "periods": [*periods.values()]},
    )
    return {row.name: row.wait for row in rows}


async def begin_job(db: Database, name: str, period: float, force: bool) -> BegunJob:
    """Begins a job where that is to be done: ``state`` is ours, early (not due), busy (elsewhere) or broken.

    Ours: the session of ``db`` holds the job's lock until ``end_job``; ``began`` and ``failures`` (in a row) come along.
    Otherwise ``wait`` says in how many seconds to look again. Broken: the last run ended with its process, which is
    written down now. ``early``: also before it is due. ``db`` must be one session, and outside of a transaction.
    """
    return await fetch_row(
        db,
        BegunJob,
        "SELECT * FROM begin_job(%(name)s, %(period)s, %(early)s, clock())",
        {"name": name, "period": period, "early": force},
    )


async def end_job(db: Database, name: str, begun: BegunJob, ended: EndedJob) -> float | None:
    """Writes down how a run went and gives the lock back; how long the run took.

    None when the run is not the job's last any more: the session was lost meanwhile.
    """
    row = await one(
        db,
        "SELECT end_job(%(name)s, %(began)s, %(outcome)s, %(words)s, %(wait)s, %(logged)s, clock()) AS seconds",
        {"name": name, "began": begun.began, **attrs.asdict(ended)},
    )
    return None if row["seconds"] is None else float(row["seconds"])


async def list_jobs(db: Database) -> list[JobState]:
    """Every periodic job that ever ran."""
    return await fetch_rows(
        db,
        JobState,
        "SELECT name, due, outcome, began, seconds, words, failures, runs,"
        " greatest(0, extract(epoch FROM clock() - due))::float8 AS overdue FROM job ORDER BY name",
    )


async def list_runs(db: Database, name: str, limit: int) -> list[JobRun]:
    """The last runs of a job in its log, the newest first."""
    return await fetch_rows(
        db,
        JobRun,
        "SELECT began, seconds, outcome, words FROM job_run WHERE name = %(name)s ORDER BY id DESC LIMIT %(limit)s",
        {"name": name, "limit": limit},
    )


async def sweep_runs(db: Database, days: int) -> int:
    """Removes from the log what is older, and jobs that have not run for so long."""
    old = {"days": days}
    gone = await record_statements.delete_in_batches(
        db, "job_run", "began < clock() - make_interval(days => %(days)s)", old
    )
    return gone + await record_statements.delete_in_batches(
        db, "job", "due < clock() - make_interval(days => %(days)s)", old
    )


CHUNK = 1000


async def sweep_expired_leases(db: Database, days: int) -> int:
    """Takes rights to answer late away that ended so many days ago; how many."""
    return await _all(db, "sweep_expired_leases", days)


async def sweep_positions(db: Database, days: int) -> int:
    """Forgets places in the order that nobody has used for so many days, and those of deleted projects; how many."""
    return await _all(db, "sweep_positions", days)


async def sweep_links(db: Database, days: int) -> int:
    """Removes links of volunteers with browsers without answers that were made so many days ago, and surplus ones; how many."""
    return await _all(db, "sweep_links", days)


async def _all(db: Database, function: str, days: int) -> int:
    gone = 0
    while True:
        row = await one(
            db,
            f"SELECT {function}(clock() - make_interval(days => %(days)s), %(maximum)s) AS n",
            {"days": days, "maximum": CHUNK},
        )
        gone += int(row["n"])
        if row["n"] < CHUNK:
            return gone


FOLDED_AT_ONCE = 5000


async def fold_counters(db: Database, maximum: int = FOLDED_AT_ONCE) -> int:
    """Folds appended counters and evidence, and lets old days go, in short transactions; how many rows were folded."""
    folded = await _fold_evidence(db)
    while (n := await _count(db, "SELECT fold_stats(clock(), %(maximum)s) AS n", maximum)) > 0:
        folded += n
        if n < maximum:
            break
    while await _count(db, "SELECT expire_days(clock(), %(maximum)s) AS n", maximum) == maximum:
        pass
    return folded


async def _fold_evidence(db: Database) -> int:
    """What completed tasks teach about volunteers (`trust/54_trust_fold.sql`), project by project."""
    folded = 0
    for row in await db.fetch("SELECT projects_to_fold() AS id"):
        count_row = await one(db, "SELECT fold_evidence(%(project)s) AS n", {"project": row["id"]})
        folded += int(count_row["n"])
    return folded


async def _count(db: Database, sql: str, maximum: int) -> int:
    return int((await one(db, sql, {"maximum": maximum}))["n"])
