"""Finished tasks with what was answered, as people read them."""

from __future__ import annotations

from crowdd.storage.database import Database, fetch_rows
from crowdd.storage.tasks.rows import FinishedTask

_MAX_INFO_BYTES = 4000  # of a task or of a result; of a larger one nothing is shown
_MAX_ANSWER = 300  # characters of an answer


async def page(db: Database, project_id: int, before: int | None, maximum: int, votes: int) -> list[FinishedTask]:
    """The last results of a project, or those before one, the newest first: ``id``, ``task_id``, ``info``, ``task_info``.

    ``votes`` has the most frequent answers among those that count: ``answer`` (JSON; of a long one the beginning, as a
    text), how many there are (``n``). ``total`` are all that count, ``kinds`` how many different ones there are.
    """
    return await fetch_rows(
        db,
        FinishedTask,
        f"""
        SELECT r.id, r.task_id, CASE WHEN octet_length(r.info::text) <= {_MAX_INFO_BYTES} THEN r.info END AS info,
               CASE WHEN octet_length(t.info::text) <= {_MAX_INFO_BYTES} THEN t.info END AS task_info,
               coalesce(v.votes, '[]') AS votes, coalesce(v.total, 0) AS total, coalesce(v.kinds, 0) AS kinds
          FROM (SELECT * FROM result WHERE project_id = %(project)s AND last_version AND id < %(before)s
                 ORDER BY id DESC LIMIT %(maximum)s) r
          JOIN task t ON t.project_id = r.project_id AND t.id = r.task_id
         CROSS JOIN LATERAL (
            SELECT json_agg(json_build_object('answer', CASE WHEN length(g.answer::text) <= {_MAX_ANSWER} THEN g.answer
                                                             ELSE to_jsonb(left(g.answer #>> '{{}}', {_MAX_ANSWER}) || '…') END, 'n', g.n)
                            ORDER BY g.n DESC, g.first) FILTER (WHERE g.nth <= %(votes)s) AS votes, sum(g.n)::int AS total, count(*)::int AS kinds
              FROM (SELECT value AS answer, count(*)::int AS n, min(run) AS first,
                           row_number() OVER (ORDER BY count(*) DESC, min(run)) AS nth
                      FROM answer_values(r.project_id, r.task_id) GROUP BY value) g) v
         ORDER BY r.id DESC""",
        {"project": project_id, "before": 2**63 - 1 if before is None else before, "maximum": maximum, "votes": votes},
    )
