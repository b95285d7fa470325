"""SQL of random samples of results (definitions/review/57_samples.sql)."""

from __future__ import annotations

from crowdd.database.access import Database, as_json, fetch_rows, one, one_or_none
from crowdd.features.trust.rows import MIN_MEASURED, CheckedPair, Recalibration, SampledResult


async def list_sampled(db: Database, project_id: int) -> list[SampledResult]:
    """The sample of a project, in the order in which its tasks are decided."""
    return await fetch_rows(
        db,
        SampledResult,
        "SELECT s.task_id, s.class::int AS class_, s.confidence::numeric::float8 AS confidence, s.decided::int AS decided, s.drawn"
        " FROM sampled_result s JOIN trust_model q USING (project_id, generation)"
        " WHERE s.project_id = %(project)s ORDER BY s.number",
        {"project": project_id},
    )


async def count_rest(db: Database, project_id: int, maximum: int) -> int:
    """How many results can still be drawn, at most so many: a project may have millions."""
    sql = (
        "SELECT count(*) AS n FROM (SELECT FROM sampled_from(%(project)s) f WHERE NOT EXISTS (SELECT FROM sampled_result s"
        " WHERE s.project_id = %(project)s AND s.task_id = f.task_id) LIMIT %(maximum)s) x"
    )
    return int((await one(db, sql, {"project": project_id, "maximum": maximum}))["n"])


async def find_undecided(db: Database, project_id: int) -> int | None:
    """The next task that an expert decides; None: all are decided."""
    row = await one_or_none(
        db,
        "SELECT s.task_id FROM sampled_result s JOIN trust_model q USING (project_id, generation)"
        " JOIN task_ledger l ON l.project_id = s.project_id AND l.task_id = s.task_id AND l.mode <> 'gold'"
        " WHERE s.project_id = %(project)s AND s.decided IS NULL ORDER BY s.number LIMIT 1",
        {"project": project_id},
    )
    return None if row is None else int(row["task_id"])


async def draw_sample(tx: Database, project_id: int, n: int) -> int:
    """Draws so many further results, or all that are left. How many were drawn."""
    row = await one(tx, "SELECT draw_sample(%(project)s, %(n)s, clock()) AS n", {"project": project_id, "n": n})
    return int(row["n"])


async def decide_sampled(tx: Database, project_id: int, task_id: int, user_id: int, class_: int, *, owns: bool) -> str:
    """Stores what an expert says of a task: decided, before, class or none."""
    row = await one(
        tx,
        "SELECT decide_sampled(%(project)s, %(task)s, %(user)s, %(class)s, %(owns)s, clock()) AS state",
        {"project": project_id, "task": task_id, "user": user_id, "class": class_, "owns": owns},
    )
    return str(row["state"])


async def list_to_recalibrate(db: Database) -> list[int]:
    """Projects in whose sample more, or fewer, results are decided than their curve is made of."""
    rows = await db.fetch(
        "SELECT q.project_id FROM sampled_result s JOIN trust_model q USING (project_id, generation) WHERE s.decided IS NOT NULL"
        " GROUP BY q.project_id, q.recalibration HAVING count(*) >= %(minimum)s"
        " AND count(*) <> coalesce((q.recalibration->>'n')::bigint, 0) ORDER BY 1",
        {"minimum": MIN_MEASURED},
    )
    return [row["project_id"] for row in rows]


async def set_recalibration(db: Database, project_id: int, recalibration: Recalibration) -> None:
    """Has tasks stop, and results say confidence, by this curve from now on."""
    await db.execute(
        "UPDATE trust_model SET recalibration = %(curve)s::jsonb || jsonb_build_object('told', 0, 'at', to_char(clock() AT TIME ZONE 'UTC',"
        """ 'YYYY-MM-DD"T"HH24:MI:SS.US')) WHERE project_id = %(project)s""",
        {"project": project_id, "curve": as_json(recalibration)},
    )


async def list_untold(db: Database) -> list[int]:
    """Projects with a curve of which those who follow changes of results have not been told."""
    rows = await db.fetch("SELECT project_id FROM trust_model WHERE recalibration ? 'told' ORDER BY 1")
    return [row["project_id"] for row in rows]


async def tell_results(db: Database, project_id: int) -> bool:
    """Has the next thousand results count as changed, since their confidence has; whether there may be more."""
    row = await one(db, "SELECT tell_results(%(project)s, 1000) AS more", {"project": project_id})
    return bool(row["more"])


async def find_recalibration(db: Database, project_id: int) -> Recalibration | None:
    """The curve of a project; None while too few results are decided."""
    row = await one_or_none(
        db,
        "SELECT recalibration - 'told' AS recalibration FROM trust_model WHERE project_id = %(project)s",
        {"project": project_id},
    )
    return row["recalibration"] if row else None


async def count_checked(db: Database, project_id: int) -> list[CheckedPair]:
    """What is right against what was said: answers to gold tasks, results that were drawn, and all that experts decided.

    Of several right answers to a gold task the one that was said is right, or else the first. Of what an expert has
    decided, the version before counts.
    """
    return await fetch_rows(
        db,
        CheckedPair,
        "WITH q AS MATERIALIZED (SELECT * FROM trust_model WHERE project_id = %(project)s)"
        " SELECT x.by, x.truth::int AS truth, x.said::int AS said, count(*)::int AS n FROM ("
        "SELECT 'gold' AS by, CASE WHEN r.class = ANY (t.truths) THEN r.class ELSE t.truths[1] END AS truth, r.class AS said FROM q"
        " JOIN gold_task g USING (project_id) CROSS JOIN LATERAL (SELECT array_agg(p ORDER BY nth) FILTER (WHERE p IS NOT NULL) AS truths"
        " FROM (SELECT choice_position(q.choices, a) AS p, nth FROM jsonb_array_elements(g.answer) WITH ORDINALITY u(a, nth)) a) t"
        " JOIN task_run r ON r.project_id = q.project_id AND r.task_id = g.task_id AND r.class IS NOT NULL WHERE t.truths IS NOT NULL"
        " UNION ALL SELECT 'sample', s.decided, s.class FROM q JOIN sampled_result s USING (project_id, generation) WHERE s.decided IS NOT NULL"
        " UNION ALL SELECT 'experts', d.class, b.class FROM q JOIN result d ON d.project_id = q.project_id AND d.last_version AND d.reason = 'expert'"
        " CROSS JOIN LATERAL (SELECT b.class FROM result b WHERE b.project_id = d.project_id AND b.task_id = d.task_id AND b.version < d.version"
        " AND b.reason IN ('sure', 'full', 'analysis') ORDER BY b.version DESC LIMIT 1) b WHERE d.class IS NOT NULL AND b.class IS NOT NULL) x"
        " GROUP BY 1, 2, 3",
        {"project": project_id},
    )
