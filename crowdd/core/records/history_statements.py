"""SQL of past versions: tasks, answers, results and counters at a time, when they changed, and how long they are kept.

The functions are in definitions/transfer/68_history.sql.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

import attrs

from crowdd.core.records import statements
from crowdd.database.access import Database, Row, fetch_rows, one
from crowdd.kinds import KINDS


@attrs.frozen
class PastQuery:
    """Rows of a kind in a project at a time, in the order of their ids: those of one task, of one id, behind an id.

    ``kind`` is its name. ``last_version`` is for results only; None: whatever version.
    """

    kind: str
    at: datetime
    project_id: int
    row_id: int | None = None
    task_id: int | None = None
    last_version: bool | None = None
    last_id: int = 0
    limit: int = 20


# The columns of each kind, of a row r as it was. Which account answered is known of answers that are still there; of others the code of the
# volunteer, unless they have withdrawn.
_COLUMNS = {
    "task": "r.id, r.created, r.project_id, CASE WHEN x.task_id IS NOT NULL OR d.done THEN 'completed' ELSE 'ongoing' END AS state,"
    " coalesce(x.reason, CASE WHEN d.done THEN 'complete' END) AS closed, x.at AS retired_at, x.user_id AS retired_by, x.note AS retired_note,"
    " r.info, s.n_answers, s.priority_0, r.quorum, r.calibration, (SELECT array_agg(f.user_id ORDER BY f.created) FROM favourite f"
    " WHERE f.project_id = r.project_id AND f.task_id = r.id AND f.created <= %(at)s) AS fav_user_ids",
    "taskrun": "r.id, r.task_id, r.project_id, r.user_id, r.user_ip, r.external_uid, coalesce((SELECT w.word FROM volunteer_word w"
    " WHERE w.project_id = r.project_id AND w.actor = r.actor), v.\"row\"->>'volunteer') AS volunteer, r.info, r.created, r.finish_time,"
    " CASE WHEN r.gold THEN 1 ELSE r.calibration END AS calibration, r.timeout, r.media_url, r.circumstances",
    "result": "r.id, r.created, r.project_id, r.task_id, r.task_run_ids, r.last_version, consensus_of_result(r.project_id, r.last_version,"
    " ROW(CASE WHEN v.\"row\"->>'null_consensus' = 'true' THEN 'null' ELSE r.consensus END, r.consensus_hash, r.n_compared, r.agreement, r.confidence)::said, r.further,"
    " printed_as_json(r, %(at)s)) AS consensus, r.reason, printed_confidence(r, %(at)s) AS confidence, model_value(r) AS model,"
    " CASE WHEN r.last_version AND r.posterior IS NOT NULL THEN posterior_by_choice(r.project_id, r.generation, r.posterior) END AS posterior, r.info",
}
_BESIDE = {
    "task": " CROSS JOIN LATERAL task_settings_at(r.project_id, r.id, %(at)s) s LEFT JOIN LATERAL retirement_at(r.project_id, r.id, %(at)s) x ON true"
    " CROSS JOIN LATERAL (SELECT complete_at(r.project_id, r.id, %(at)s) AS done) d"
}
_CAME = {"task": "created", "taskrun": "finish_time", "result": "created"}


async def read_history_start(db: Database, days: int) -> Row:
    """``now``, and ``since`` when all versions are kept; None: none are. ``days``: how long they are kept, not 0."""
    (row,) = await db.fetch(
        "SELECT clock() AS now, greatest(since, CASE WHEN since IS NOT NULL THEN clock() - make_interval(days => %(days)s) END) AS since FROM history",
        {"days": days},
    )
    return row


async def find_project_id(db: Database, kind: str, row_id: int) -> int | None:
    """The project of a row that is there, or of which there are versions, without a check of rights."""
    if kind == "projectstats":
        return row_id
    table = KINDS[kind].table
    rows = await db.fetch(
        f"SELECT project_id FROM {table} WHERE id = %(id)s"
        " UNION ALL SELECT project_id FROM past_row WHERE id = %(id)s AND kind = %(kind)s LIMIT 1",
        {"id": row_id, "kind": table},
    )
    return rows[0]["project_id"] if rows else None


async def select_rows(db: Database, query: PastQuery) -> list[Row]:
    """The rows, with a column for each attribute; at most MAX_LIST_BYTES of them. One statement: they belong together."""
    kind = KINDS[query.kind]
    if query.kind == "projectstats":
        return await db.fetch(_FIGURES, {"project": query.project_id, "at": query.at})
    rows = (
        f"SELECT {_COLUMNS[query.kind]} FROM ({_versions(query)}) v"
        f" LEFT JOIN {kind.table} t ON t.project_id = %(project)s AND t.id = v.id"
        f" CROSS JOIN LATERAL jsonb_populate_record(t, coalesce(v.\"row\", '{{}}')) r{_BESIDE.get(query.kind, '')} ORDER BY r.id"
    )
    values = {
        "project": query.project_id,
        "kind": kind.table,
        "at": query.at,
        "row_id": query.row_id,
        "task_id": query.task_id,
        "last_version": query.last_version,
        "last_id": query.last_id,
        "limit": query.limit,
        "max_bytes": statements.MAX_LIST_BYTES,
    }
    return await db.fetch(statements.limit_bytes(kind, rows), values)


def _versions(query: PastQuery) -> str:
    """The ids of the page, each with the version that has ended, or null for a row that has not changed since."""
    table = KINDS[query.kind].table
    here, version_conditions = [f"t.{_CAME[query.kind]} <= %(at)s"], ["h.came <= %(at)s"]
    before = ["h.project_id = %(project)s", "h.kind = %(kind)s", "h.id > %(last_id)s", "h.until > %(at)s"]
    if query.row_id is not None:
        here.append("t.id = %(row_id)s")
        before.append("h.id = %(row_id)s")
    if query.task_id is not None:
        here.append("t.task_id = %(task_id)s")
        before.append("h.task_id = %(task_id)s")
    if query.last_version is not None:
        here.append("t.last_version = %(last_version)s")
        version_conditions.append("(h.\"row\"->>'last_version')::boolean = %(last_version)s")
    return (
        f'(SELECT t.id, NULL::jsonb AS "row" FROM {table} t WHERE t.project_id = %(project)s AND t.id > %(last_id)s AND {" AND ".join(here)}'
        " AND NOT EXISTS (SELECT FROM past_row h WHERE h.project_id = t.project_id AND h.kind = %(kind)s AND h.id = t.id AND h.until > %(at)s)"
        ' ORDER BY t.id LIMIT %(limit)s) UNION ALL (SELECT h.id, h."row" FROM (SELECT DISTINCT ON (h.id) h.id, h.came, h."row" FROM past_row h'
        f" WHERE {' AND '.join(before)} ORDER BY h.id, h.until, h.n) h WHERE {' AND '.join(version_conditions)} ORDER BY h.id LIMIT %(limit)s)"
        " ORDER BY id LIMIT %(limit)s"
    )


_FIGURES = """SELECT p.id, p.id AS project_id, s.n_tasks, f.n_task_runs, f.n_results, f.n_volunteers, s.n_completed_tasks, s.overall_progress,
       f.average_time, (SELECT count(*) FROM blogpost b WHERE b.project_id = p.id AND b.created <= %(at)s) AS n_blogposts, f.last_activity,
       '{}'::jsonb AS info
  FROM project p CROSS JOIN LATERAL figures_at(p.id, %(at)s) f
 CROSS JOIN LATERAL shown_figures(f.n_tasks, f.n_completed_tasks, coalesce(f.n_wanted, 0), f.n_counted, f.n_task_runs, f.n_gold,
                                  p.trust IS NOT NULL AND p.answer_label IS NOT NULL) s WHERE p.id = %(project)s"""


async def empty_answer_versions(db: Database, project_id: int, run_id: int) -> None:
    """Empties what is kept of an answer that its volunteer withdraws."""
    await db.fetch("SELECT strip_versions(%(project)s, ARRAY[%(run)s::bigint])", {"project": project_id, "run": run_id})


PRUNED = 5000  # versions of one transaction


async def set_retention(db: Database, days: int) -> None:
    """Begins to keep versions, or ends it (0 days), where that is not so yet."""
    await db.fetch("SELECT follow_history(%(days)s)", {"days": days})


async def prune_versions(db: Database, days: int) -> int:
    """Deletes the next versions that ended more than so many days ago, all with 0; 0 when there are none."""
    sql = "SELECT prune_history(%(days)s, %(maximum)s) AS n"
    return int((await one(db, sql, {"days": days, "maximum": PRUNED}))["n"])


class TaskTime(TypedDict):
    """A time at which something changed, and what: created, changed, settings, retired, reopened, deleted, answered,
    corrected, answer_deleted, result or result_changed."""

    at: datetime
    what: list[str]


_OF_TASK = """
WITH past AS MATERIALIZED (
    SELECT kind, id, until, came, "row" ? 'reopens' AS reopens, row_number() OVER (PARTITION BY kind, id ORDER BY until DESC, n DESC) = 1 AS last FROM past_row
     WHERE project_id = %(project)s AND task_id = %(task)s
), times(at, what) AS (
    SELECT created, 'created' FROM task WHERE project_id = %(project)s AND id = %(task)s
    UNION ALL SELECT finish_time, 'answered' FROM task_run WHERE project_id = %(project)s AND task_id = %(task)s
    UNION ALL SELECT created, 'result' FROM result WHERE project_id = %(project)s AND task_id = %(task)s
    UNION ALL SELECT at, 'retired' FROM retirement WHERE project_id = %(project)s AND task_id = %(task)s
    UNION ALL SELECT came, CASE kind WHEN 'task' THEN 'created' WHEN 'task_run' THEN 'answered' WHEN 'result' THEN 'result' ELSE 'retired' END
      FROM past WHERE kind <> 'task_ledger'
    UNION ALL SELECT h.until, CASE h.kind
               WHEN 'task' THEN CASE WHEN h.last AND NOT EXISTS (SELECT FROM task t WHERE t.project_id = %(project)s AND t.id = h.id) THEN 'deleted' ELSE 'changed' END
               WHEN 'task_ledger' THEN CASE WHEN h.reopens THEN 'reopened' WHEN EXISTS (SELECT FROM task t WHERE t.project_id = %(project)s AND t.id = h.id) OR NOT h.last THEN 'settings' ELSE 'deleted' END
               WHEN 'retirement' THEN 'reopened'
               WHEN 'task_run' THEN CASE WHEN h.last AND NOT EXISTS (SELECT FROM task_run r WHERE r.project_id = %(project)s AND r.id = h.id) THEN 'answer_deleted' ELSE 'corrected' END
               ELSE 'result_changed' END FROM past h)
SELECT at, array_agg(DISTINCT what ORDER BY what) AS what FROM times WHERE at >= %(since)s AND at <= clock() GROUP BY at ORDER BY at DESC LIMIT %(maximum)s
"""


async def list_task_times(db: Database, project_id: int, task_id: int, since: datetime, maximum: int) -> list[TaskTime]:
    """The latest of these times since one, the last first."""
    values = {"project": project_id, "task": task_id, "since": since, "maximum": maximum}
    return await fetch_rows(db, TaskTime, _OF_TASK, values)
