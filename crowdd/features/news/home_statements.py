"""SQL of the home page of a volunteer. Each statement reads a bounded number of their last answers."""

from __future__ import annotations

from crowdd.core.records import role_statements
from crowdd.core.records import statements as record_statements
from crowdd.database.access import Database, fetch_row, fetch_rows
from crowdd.features.news.rows import CameOf, OwnFacts, UnansweredTask
from crowdd.kernel.requester import Requester
from crowdd.kinds.project import PROJECT
from crowdd.kinds.roles import Role

RECENT = 500
"""Last answers of which is said how many have their result."""

_OF_WEEK = 3000  # last answers among which those of the week are
_AMONG = 40  # last answers among which results are chosen to show
_LAST = 50  # tasks among which one that the requester has not answered is looked for
_MAX_INFO_BYTES = 4000  # of a task; of a larger one nothing is shown
# Whether the requester may see the answers of project p. Nobody may while it has gold tasks, which never have a result.
_TOLD = role_statements.expressions(PROJECT)[Role.ANSWERS_UNLOCKED]


async def read_own_facts(db: Database, who: Requester) -> OwnFacts:
    """How many of the last answers have a result, where they were given, and how many there were each day of the week."""
    return await fetch_row(
        db,
        OwnFacts,
        f"""
        WITH own AS MATERIALIZED (
            SELECT id, project_id, task_id, finish_time FROM task_run WHERE user_id = %(me)s AND NOT trial ORDER BY id DESC LIMIT {_OF_WEEK}),
        told AS (
            SELECT s.id FROM (SELECT * FROM own ORDER BY id DESC LIMIT {RECENT}) r JOIN project p ON p.id = r.project_id AND {_TOLD}
              LEFT JOIN result s ON s.project_id = r.project_id AND s.task_id = r.task_id AND s.last_version),
        week AS (SELECT d::date AS day FROM (SELECT (clock() AT TIME ZONE 'UTC')::date AS today) t, generate_series(today - 6, today, interval '1 day') d)
        SELECT (SELECT count(*) FROM told)::int AS recent, (SELECT count(id) FROM told)::int AS settled,
               (SELECT project_id FROM own ORDER BY id DESC LIMIT 1) AS project_id,
               ARRAY(SELECT (SELECT count(*) FROM own WHERE (finish_time AT TIME ZONE 'UTC')::date = day)::int FROM week ORDER BY day) AS week,
               (SELECT min(day) FROM week) AS since""",
        who.role_values(),
    )


async def find_unanswered_task(db: Database, who: Requester, project_id: int) -> UnansweredTask:
    """The newest task of a project that the requester has not answered, among the last; ``id`` is None where there is none.

    It may be complete: which tasks are open is not looked at, because gold tasks always are.
    """
    return await fetch_row(
        db,
        UnansweredTask,
        f"""
        SELECT t.id, CASE WHEN octet_length(t.info::text) <= {_MAX_INFO_BYTES} THEN t.info END AS info, o.own
          FROM (SELECT runs_of(%(project)s, %(actor)s) AS own) o
          LEFT JOIN {record_statements.task_relation(owns=False)} t ON t.project_id = %(project)s AND t.id = (
            SELECT x.id FROM (SELECT id FROM task WHERE project_id = %(project)s ORDER BY id DESC LIMIT {_LAST}) x
             WHERE NOT EXISTS (SELECT FROM task_run r WHERE r.project_id = %(project)s AND r.task_id = x.id AND r.actor = %(actor)s)
               AND NOT EXISTS (SELECT FROM retirement y WHERE y.project_id = %(project)s AND y.task_id = x.id) ORDER BY x.id DESC LIMIT 1)""",
        {"project": project_id, "actor": who.actor},
    )


async def list_came_of(db: Database, who: Requester, maximum: int) -> list[CameOf]:
    """The newest answers of the requester whose task has a result with a consensus that is kept."""
    return await fetch_rows(
        db,
        CameOf,
        f"""
        SELECT c.task_id, CASE WHEN octet_length(t.info::text) <= {_MAX_INFO_BYTES} THEN t.info END AS task_info, c.name, c.short_name,
               v.own AS answer, c.consensus AS result, v.n, v.total
          FROM (SELECT r.id, r.task_id, r.project_id, p.name, p.short_name, s.consensus
                  FROM (SELECT id, project_id, task_id FROM task_run WHERE user_id = %(me)s AND NOT trial ORDER BY id DESC LIMIT {_AMONG}) r
                  JOIN project p ON p.id = r.project_id AND {_TOLD}
                  JOIN result s ON s.project_id = r.project_id AND s.task_id = r.task_id AND s.last_version
                 WHERE s.consensus IS NOT NULL) c
          JOIN {record_statements.task_relation(owns=False)} t ON t.project_id = c.project_id AND t.id = c.task_id
         CROSS JOIN LATERAL (
            SELECT (array_agg(value) FILTER (WHERE run = c.id))[1] AS own, count(*) FILTER (WHERE value = c.consensus)::int AS n,
                   count(value)::int AS total FROM answer_values(c.project_id, c.task_id)) v
         WHERE v.own IS NOT NULL ORDER BY c.id DESC LIMIT %(maximum)s""",
        {**who.role_values(), "maximum": maximum},
    )
