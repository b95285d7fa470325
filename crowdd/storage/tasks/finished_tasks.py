"""Finished tasks with what was answered, and what came out of a project together, as people read them."""

from __future__ import annotations

import attrs

from crowdd.storage.core import hidden_columns
from crowdd.storage.database import Database, fetch_rows
from crowdd.storage.tasks.outcomes.rows import FinishedTask, ResultSummary

ORDERS = {
    "newest": ("r.id", "DESC"),
    "most_agreed": ("r.agreement", "DESC"),
    "least_agreed": ("r.agreement", "ASC"),
    "most_answers": ("r.n_compared", "DESC"),
}
SAID = (
    "r.consensus, r.consensus_hash IS NOT NULL AS won, r.consensus IS NOT NULL AS short, r.n_compared, r.agreement::numeric::float8 AS agreement,"
    " r.confidence::numeric::float8 AS confidence, r.further"
)
"""Columns of Said."""
_MAX_INFO_BYTES = 4000  # of a task or of a result; of a larger one nothing is shown
_MAX_ANSWER = 300  # characters of an answer
_OF_PROJECT = "project_id = %(project)s AND project_id + 0 = %(project)s"  # the second for the index result_agreement


@attrs.frozen
class Chosen:
    """Which results and in which order: those behind the result ``before``.

    ``answer`` is the most frequent value, as JSON; "" chooses those without one, None all. Agreements are 0 to 1.
    """

    answer: str | None = None
    min_agreement: float | None = None
    below_agreement: float | None = None
    order: str = "newest"
    before: int | None = None


async def page(
    db: Database, project_id: int, chosen: Chosen, maximum: int, votes: int, *, owns: bool
) -> list[FinishedTask]:
    """Last results of a project: ``id``, ``task_id``, ``info``, ``task_info``.

    ``votes`` has the most frequent answers among those that count: ``answer`` (JSON; of a long one the beginning, as a
    text), how many there are (``n``). ``total`` are all that count, ``kinds`` how many different ones there are.
    ``owns``: for an owner, who sees hidden columns.
    """
    key, way = ORDERS[chosen.order]
    order = f"{key} {way}, r.id {way}" if key != "r.id" else f"r.id {way}"
    values = {
        "project": project_id,
        "answer": chosen.answer,
        "minimum": chosen.min_agreement,
        "below": chosen.below_agreement,
        "before": chosen.before,
        "maximum": maximum,
        "votes": votes,
    }
    return await fetch_rows(
        db,
        FinishedTask,
        f"""
        SELECT r.id, r.task_id, CASE WHEN octet_length(r.info::text) <= {_MAX_INFO_BYTES} THEN r.info END AS info,
               CASE WHEN octet_length(t.info::text) <= {_MAX_INFO_BYTES} THEN t.info END AS task_info,
               {SAID}, r.reason,
               coalesce(v.votes, '[]') AS votes, coalesce(v.total, 0) AS total, coalesce(v.kinds, 0) AS kinds
          FROM (SELECT * FROM result r WHERE {_OF_PROJECT} AND last_version{_where(chosen, key, way)}
                 ORDER BY {order} LIMIT %(maximum)s) r
          JOIN {hidden_columns.tasks(owns=owns)} t ON t.project_id = r.project_id AND t.id = r.task_id
         CROSS JOIN LATERAL (
            SELECT json_agg(json_build_object('answer', CASE WHEN length(g.answer::text) <= {_MAX_ANSWER} THEN g.answer
                                                             ELSE to_jsonb(left(g.answer #>> '{{}}', {_MAX_ANSWER}) || '…') END, 'n', g.n)
                            ORDER BY g.n DESC, g.first) FILTER (WHERE g.nth <= %(votes)s) AS votes, sum(g.n)::int AS total, count(*)::int AS kinds
              FROM (SELECT value AS answer, count(*)::int AS n, min(run) AS first,
                           row_number() OVER (ORDER BY count(*) DESC, min(run)) AS nth
                      FROM answer_values(r.project_id, r.task_id) WHERE value IS NOT NULL GROUP BY value) g) v
         ORDER BY {order}""",
        values,
    )


def _where(chosen: Chosen, key: str, way: str) -> str:
    """Conditions on results; those without an agreement are left out where it matters."""
    sql = ""
    if chosen.answer == "":
        sql += " AND consensus_hash IS NULL AND agreement IS NOT NULL"
    elif chosen.answer is not None:
        sql += " AND consensus_hash = jsonb_hash_extended(%(answer)s::jsonb, 0)"
    if chosen.min_agreement is not None:
        sql += " AND agreement >= %(minimum)s::real"
    if chosen.below_agreement is not None:
        sql += " AND agreement < %(below)s::real"
    if key != "r.id":
        sql += " AND agreement IS NOT NULL"
    if chosen.before is None:
        return sql
    sign = "<" if way == "DESC" else ">"
    if key == "r.id":
        return f"{sql} AND id {sign} %(before)s"
    here = f"SELECT {key} FROM result r WHERE project_id = %(project)s AND id = %(before)s"
    return f"{sql} AND ({key}, id) {sign} (({here}), %(before)s::bigint)"


async def summaries(db: Database, project_id: int, maximum: int, fields: int) -> list[ResultSummary]:
    """What the last results of a project say together at each of the first ``fields`` answer fields, with so many outcomes.

    Reads counters, and a result for each outcome of the first field.
    """
    return await fetch_rows(
        db,
        ResultSummary,
        """
        WITH o AS MATERIALIZED (SELECT * FROM outcomes_of(%(project)s, CASE %(fields)s WHEN 1 THEN 1 END)),
        top AS (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY field ORDER BY tasks DESC, hash) AS nth FROM o WHERE kind = 'value' AND tasks > 0) t
                 WHERE nth <= %(maximum)s)
        SELECT a.*, coalesce(t.outcomes, '[]') AS outcomes, EXISTS (SELECT FROM agreement_due WHERE project_id = %(project)s) AS due
          FROM generate_series(1, %(fields)s) n
         CROSS JOIN LATERAL (
            SELECT coalesce(sum(tasks), 0)::int AS tasks, coalesce(sum(answers), 0)::bigint AS answers, coalesce(sum(several), 0)::int AS several,
                   (sum(agreement) / nullif(sum(several), 0) / 1e9)::float8 AS agreement, coalesce(sum(unanimous), 0)::int AS unanimous,
                   ARRAY[coalesce(sum(several - half), 0), coalesce(sum(half - most), 0), coalesce(sum(most - unanimous), 0), coalesce(sum(unanimous), 0)]::int[] AS bands,
                   coalesce(sum(tasks) FILTER (WHERE kind = 'tied'), 0)::int AS tied, coalesce(sum(tasks) FILTER (WHERE kind = 'none'), 0)::int AS unanswered,
                   coalesce(sum(tasks) FILTER (WHERE kind = 'pending'), 0)::int AS pending,
                   CASE WHEN coalesce(sum(tasks) FILTER (WHERE kind = 'other'), 0) = 0 THEN count(*) FILTER (WHERE kind = 'value' AND tasks > 0) END AS kinds,
                   (coalesce(sum(tasks) FILTER (WHERE kind IN ('value', 'other')), 0) - coalesce((SELECT sum(tasks) FROM top WHERE field = n), 0))::int AS others
              FROM o WHERE field = n) a
         CROSS JOIN LATERAL (
            SELECT json_agg(json_build_object('answer', r.value, 'short', r.value IS NOT NULL, 'n', top.tasks) ORDER BY top.nth) AS outcomes
              FROM top CROSS JOIN LATERAL (
                SELECT top.value WHERE n > 1 UNION ALL
                (SELECT consensus FROM result WHERE n = 1 AND project_id = %(project)s AND last_version AND consensus_hash = top.hash LIMIT 1)) r (value)
             WHERE top.field = n) t ORDER BY n""",
        {"project": project_id, "maximum": maximum, "fields": fields},
    )
