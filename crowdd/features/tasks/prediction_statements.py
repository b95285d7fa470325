"""SQL of predictions."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.database.access import Database, as_json
from crowdd.features.tasks.rows import StoredPrediction
from crowdd.kernel.values import Values

_ROWS = (
    "jsonb_to_recordset(%(rows)s) AS r(nth bigint, project_id bigint, task_id bigint, model text, version text, question text, value jsonb,"
    " probability double precision)"
)


async def store(tx: Database, rows: Sequence[Values]) -> list[StoredPrediction]:
    """The ids of predictions by their places in ``rows``, new ones or those that were there; none for a task that is not.

    One of the same model and version for the same question of a task takes the new value. ``rows`` name each once.
    """
    stored_rows = await tx.fetch(
        f"WITH r AS (SELECT r.* FROM {_ROWS} JOIN task t ON t.project_id = r.project_id AND t.id = r.task_id),"
        " stored AS (INSERT INTO prediction AS p (created, project_id, task_id, model, version, question, value, probability)"
        " SELECT clock(), project_id, task_id, model, version, question, coalesce(value, 'null'), probability FROM r ORDER BY nth"
        " ON CONFLICT (project_id, task_id, question, model, version) DO UPDATE SET value = excluded.value, probability = excluded.probability,"
        " created = CASE WHEN p.value = excluded.value THEN p.created ELSE excluded.created END RETURNING *)"
        " SELECT r.nth, s.id FROM r JOIN stored s USING (project_id, task_id, question, model, version)",
        {"rows": as_json([{**row, "nth": nth} for nth, row in enumerate(rows)])},
    )
    return [StoredPrediction(nth=row["nth"], id=row["id"]) for row in stored_rows]
