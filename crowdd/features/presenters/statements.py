"""SQL of what a volunteer did in a project.

The last answers of an account are looked for among its last answers in all projects: this page comes after them.
"""

from __future__ import annotations

from crowdd.core.records import statements as record_statements
from crowdd.database.access import Database, fetch_row, fetch_rows
from crowdd.features.presenters.rows import OwnReading, OwnShare, Steps
from crowdd.features.projects.rows import ChainStep
from crowdd.kernel.requester import Requester

_LOOKED_AT = 2_000  # last answers of an account
_MAX_INFO_BYTES = 4000  # of a task; of a larger one nothing is shown
_OF_ACCOUNT = f"""
    SELECT * FROM (SELECT id, project_id, task_id FROM task_run WHERE user_id = %(user)s ORDER BY id DESC LIMIT {_LOOKED_AT}) r
     WHERE project_id = %(project)s ORDER BY id DESC LIMIT %(maximum)s"""
_OF_BROWSER = """
    SELECT id, project_id, task_id FROM task_run WHERE actor = %(actor)s AND actor LIKE 'c:%%' AND project_id = %(project)s
     ORDER BY id DESC LIMIT %(maximum)s"""


async def read_own_share(db: Database, who: Requester, project_id: int, maximum: int) -> OwnShare:
    """Of the last answers of an account or a browser, at most so many; who is known by their network has none."""
    return await fetch_row(
        db,
        OwnShare,
        f"SELECT count(*)::int AS recent, count(s.id)::int AS settled FROM ({_own(who)}) r"
        " LEFT JOIN result s ON s.project_id = r.project_id AND s.task_id = r.task_id AND s.last_version",
        _values(who, project_id, maximum),
    )


async def list_own_readings(db: Database, who: Requester, project_id: int, maximum: int) -> list[OwnReading]:
    """Those of the last answers whose task has a result with a consensus that is kept, the newest first."""
    return await fetch_rows(
        db,
        OwnReading,
        f"""
        SELECT r.task_id, CASE WHEN octet_length(t.info::text) <= {_MAX_INFO_BYTES} THEN t.info END AS task_info,
               v.own AS answer, s.consensus AS result, v.own = s.consensus AS same, v.n, v.total
          FROM ({_own(who)}) r
          JOIN result s ON s.project_id = r.project_id AND s.task_id = r.task_id AND s.last_version
          JOIN {record_statements.task_relation(owns=False)} t ON t.project_id = r.project_id AND t.id = r.task_id
         CROSS JOIN LATERAL (
            SELECT (array_agg(value) FILTER (WHERE run = r.id))[1] AS own, count(*) FILTER (WHERE value = s.consensus)::int AS n,
                   count(value)::int AS total FROM answer_values(r.project_id, r.task_id)) v
         WHERE s.consensus IS NOT NULL AND v.own IS NOT NULL ORDER BY r.id DESC""",
        _values(who, project_id, maximum),
    )


async def list_steps(db: Database, project_id: int) -> list[ChainStep]:
    """The public projects before and behind one in its chain, those behind it first."""
    return (await fetch_row(db, Steps, "SELECT steps_around(%(project)s) AS steps", {"project": project_id}))["steps"]


def _own(who: Requester) -> str:
    return _OF_ACCOUNT if who.user_id is not None else _OF_BROWSER


def _values(who: Requester, project_id: int, maximum: int) -> dict[str, object]:
    return {"user": who.user_id, "actor": who.actor, "project": project_id, "maximum": maximum}
