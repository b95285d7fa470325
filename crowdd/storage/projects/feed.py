"""The latest acts on the site, for everybody; read from the ends of the tables, so that their length does not matter."""

from __future__ import annotations

from crowdd.storage.database import Database, fetch_rows
from crowdd.storage.projects.figure_rows import FeedEntry

# How many rows of each table are read. What one person does in one project is one act, and so are tasks added at once.
_BACK = 500
_SHOWN = "p.published AND p.lock_id IS NULL"
_LATEST = f"""
WITH run AS (SELECT project_id, user_id, finish_time AS at, trial FROM task_run ORDER BY id DESC LIMIT {_BACK}),
added AS (SELECT project_id, created AS at FROM task ORDER BY id DESC LIMIT {_BACK}),
done AS (SELECT project_id, r.created AS at FROM (SELECT project_id, created FROM result ORDER BY id DESC LIMIT {_BACK}) r
           JOIN project p ON p.id = r.project_id AND NOT p.has_gold),
act AS (
    SELECT 'User' AS action, id AS user_id, NULL::bigint AS project_id, created AS at
      FROM (SELECT id, created FROM account ORDER BY id DESC LIMIT {_BACK}) a UNION ALL
    SELECT 'Project', owner_id, id, first_published FROM (SELECT * FROM project ORDER BY id DESC LIMIT {_BACK}) p UNION ALL
    SELECT 'UserContribution', user_id, project_id, max(at) FROM run WHERE NOT trial AND user_id IS NOT NULL GROUP BY 2, 3 UNION ALL
    SELECT 'Task', NULL, project_id, at FROM added GROUP BY 3, 4 UNION ALL
    SELECT 'TaskCompleted', NULL, project_id, max(at) FROM done GROUP BY 3 UNION ALL
    SELECT 'Blogpost', user_id, project_id, created FROM (SELECT * FROM blogpost ORDER BY id DESC LIMIT {_BACK}) b WHERE b.published
)
SELECT a.action, a.at, u.name AS person, p.name, p.short_name, p.category_id
  FROM act a LEFT JOIN account u ON u.id = a.user_id LEFT JOIN project p ON p.id = a.project_id
 WHERE (a.project_id IS NULL OR {_SHOWN}) AND (a.user_id IS NULL OR NOT u."restrict")
 ORDER BY a.at DESC LIMIT %(maximum)s"""


async def latest(db: Database, maximum: int) -> list[FeedEntry]:
    """Acts, the last first: ``action``, ``at``, the ``person`` and the project (name, short_name, category_id), if any."""
    return await fetch_rows(db, FeedEntry, _LATEST, {"maximum": maximum})
