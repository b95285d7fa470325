"""When a task, its answers and its result changed."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from crowdd.storage.database import Database, fetch_rows


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


async def of_task(db: Database, project_id: int, task_id: int, since: datetime, maximum: int) -> list[TaskTime]:
    """The latest of these times since one, the last first."""
    values = {"project": project_id, "task": task_id, "since": since, "maximum": maximum}
    return await fetch_rows(db, TaskTime, _OF_TASK, values)
