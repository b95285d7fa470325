"""What a project has saved, whether its results are right, and the rows for a replay with other settings."""

from __future__ import annotations

from crowdd.storage.database import Database, fetch_row_or_none, fetch_rows
from crowdd.storage.tasks.review.rows import CheckedResult, GoldRun, ReplayedRun, TrustFigures

MAX_REPLAYED = 2000
"""So many of the tasks that were completed last are replayed."""
MAX_CHECKED = 5000
"""So many of the newest decisions of experts are compared with what the results said before."""
MAX_GOLD = 200
"""So many gold tasks, the newest ones, tell whether results are right."""
_NETWORK = "CASE WHEN r.actor ~ '^[ci]:' THEN r.user_ip END AS network"


async def figures(db: Database, project_id: int) -> TrustFigures | None:
    """From the sums of the model, and what is not folded yet; None where the first answer field is no label."""
    return await fetch_row_or_none(
        db,
        TrustFigures,
        "SELECT q.min_answers, q.confidence::numeric::float8 AS confidence, to_jsonb(q.choices) AS choices, q.guarded, q.accuracy::numeric::float8 AS accuracy,"
        ' q.tasks + e.tasks AS tasks, q.saved + e.saved AS saved, q.sure + e.sure AS sure, q."full" + e."full" AS "full",'
        ' q."none" + e."none" AS "none", (SELECT count(*)::int FROM result r WHERE r.project_id = q.project_id AND r.last_version'
        " AND r.reason = 'expert') AS expert, f.n_counted AS answers, f.n_completed_tasks AS completed, (SELECT avg(cardinality(r.task_run_ids))::float8 FROM (SELECT task_run_ids FROM result"
        " WHERE project_id = q.project_id AND last_version AND reason IS NOT NULL ORDER BY id DESC LIMIT 20000) r) AS mean_answers, q.gold_seen + e.gold_seen AS gold_seen"
        " FROM trust_model q JOIN project_figures f ON f.project_id = q.project_id CROSS JOIN LATERAL ("
        "SELECT coalesce(sum(sign) FILTER (WHERE NOT gold), 0)::bigint AS tasks, coalesce(sum(sign * saved) FILTER (WHERE NOT gold), 0)::bigint AS saved,"
        " coalesce(sum(sign) FILTER (WHERE reason = 'sure'), 0)::bigint AS sure, coalesce(sum(sign) FILTER (WHERE reason = 'full'), 0)::bigint AS \"full\","
        " coalesce(sum(sign) FILTER (WHERE reason = 'none'), 0)::bigint AS \"none\", coalesce(sum(sign) FILTER (WHERE gold), 0)::float8 AS gold_seen"
        " FROM evidence e WHERE e.project_id = q.project_id AND e.generation = q.generation) e WHERE q.project_id = %(project)s",
        {"project": project_id},
    )


async def replayed(db: Database, project_id: int, maximum: int = MAX_REPLAYED) -> list[ReplayedRun]:
    """The counted answers to the tasks that were completed last, in the order in which these were completed, then that of the answers."""
    return await fetch_rows(
        db,
        ReplayedRun,
        "WITH newest AS MATERIALIZED (SELECT r.id, r.task_id, r.class, r.reason, r.task_run_ids FROM result r WHERE r.project_id = %(project)s"
        " AND r.last_version AND r.reason IS NOT NULL AND NOT EXISTS (SELECT FROM gold_task g WHERE g.project_id = r.project_id AND g.task_id = r.task_id)"
        " ORDER BY r.id DESC LIMIT %(maximum)s)"
        " SELECT n.task_id, n.class::int AS result_class, n.reason = 'expert' AS expert, r.actor, r.class::int AS class_,"
        f" {_NETWORK}, coalesce(v.gold_right, 0) AS gold_right, coalesce(v.gold_seen, 0) AS gold_seen"
        " FROM newest n CROSS JOIN LATERAL unnest(n.task_run_ids) u(id) JOIN task_run r ON r.project_id = %(project)s AND r.id = u.id"
        " JOIN trust_model q ON q.project_id = r.project_id"
        " LEFT JOIN reliability v ON v.project_id = r.project_id AND v.actor = r.actor AND v.generation = q.generation"
        " WHERE r.class IS NOT NULL ORDER BY n.id, r.id",
        {"project": project_id, "maximum": maximum},
    )


async def checked(db: Database, project_id: int, maximum: int = MAX_CHECKED) -> list[CheckedResult]:
    """What the results said that experts have decided: the version before the first decision on each task."""
    return await fetch_rows(
        db,
        CheckedResult,
        "SELECT b.confidence::numeric::float8 AS confidence, b.class = d.class AS right FROM (SELECT * FROM result r WHERE r.project_id = %(project)s"
        " AND r.last_version AND r.reason = 'expert' ORDER BY r.id DESC LIMIT %(maximum)s) d"
        " CROSS JOIN LATERAL (SELECT * FROM result b WHERE b.project_id = d.project_id AND b.task_id = d.task_id AND b.version < d.version"
        " AND b.reason IN ('sure', 'full', 'analysis') ORDER BY b.version DESC LIMIT 1) b WHERE b.class IS NOT NULL",
        {"project": project_id, "maximum": maximum},
    )


async def gold_runs(db: Database, project_id: int, per_task: int, maximum: int = MAX_GOLD) -> list[GoldRun]:
    """The first answers to each of the newest gold tasks whose right answer is one of the classes, in the order in which they came."""
    return await fetch_rows(
        db,
        GoldRun,
        "SELECT g.task_id, array_position(q.choices, g.answer) AS truth, r.class::int AS class_, r.actor, coalesce(r.network, '') AS network,"
        " coalesce(v.known, false) AS known, coalesce(v.log_likelihoods, q.newcomer)::float8[] AS says"
        " FROM trust_model q CROSS JOIN LATERAL (SELECT * FROM gold_task g WHERE g.project_id = q.project_id AND array_position(q.choices, g.answer) IS NOT NULL"
        " ORDER BY g.number DESC LIMIT %(maximum)s) g"
        f" CROSS JOIN LATERAL (SELECT r.class, r.actor, r.id, {_NETWORK} FROM task_run r WHERE r.project_id = g.project_id AND r.task_id = g.task_id"
        " AND r.class IS NOT NULL ORDER BY r.id LIMIT %(per_task)s) r"
        " LEFT JOIN reliability v ON v.project_id = q.project_id AND v.actor = r.actor AND v.generation = q.generation"
        " WHERE q.project_id = %(project)s ORDER BY g.number, r.id",
        {"project": project_id, "maximum": maximum, "per_task": per_task},
    )
