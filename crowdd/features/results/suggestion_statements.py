"""SQL of what became of suggestions: the newest answers to tasks that had one."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.database.access import Database, as_json, fetch_rows
from crowdd.features.results.rows import SuggestedAnswer, SuggestionOutcomes
from crowdd.kernel.values import Values

LOOKED_AT = 5000
"""So many of the newest answers are looked at."""
COMPARED = 200
"""So many of those with a suggestion that was shown, and as many of others, are compared with it."""
_MAX_BYTES = 8000  # of an answer, as it is stored
_TOLD = f"""
    told AS (SELECT r.id, r.task_id, q.name, q.of, one, row_number() OVER (PARTITION BY q.name, one -> 'shown' ORDER BY r.id DESC) AS nth
               FROM (SELECT id, task_id, circumstances -> 'suggestions' AS all_told FROM task_run
                      WHERE project_id = %(project)s ORDER BY id DESC LIMIT {LOOKED_AT}) r
              CROSS JOIN jsonb_to_recordset(%(questions)s) AS q(name text, of jsonb)
              CROSS JOIN LATERAL (SELECT r.all_told -> q.name AS one) o WHERE one IS NOT NULL)"""


async def count_outcomes(db: Database, project_id: int, questions: Sequence[Values]) -> list[SuggestionOutcomes]:
    """How often suggestions were accepted, changed and rejected; ``questions`` have ``name`` and ``of`` (``suggest``)."""
    return await fetch_rows(
        db,
        SuggestionOutcomes,
        f"""WITH {_TOLD}
        SELECT name, count(*) FILTER (WHERE one ->> 'outcome' = 'accepted')::int AS accepted,
               count(*) FILTER (WHERE one ->> 'outcome' = 'changed')::int AS changed,
               count(*) FILTER (WHERE one ->> 'outcome' = 'rejected')::int AS rejected,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY (one ->> 'seconds')::float8)::float8 AS seconds
          FROM told WHERE one ->> 'shown' = 'true' GROUP BY name""",
        {"project": project_id, "questions": as_json(questions)},
    )


async def list_suggested_answers(db: Database, project_id: int, questions: Sequence[Values]) -> list[SuggestedAnswer]:
    """Answers with what was suggested for their tasks, whether it was shown or not."""
    return await fetch_rows(
        db,
        SuggestedAnswer,
        f"""WITH {_TOLD}
        SELECT told.name, (one ->> 'shown')::boolean AS shown, coalesce(r.info -> told.name, 'null') AS answer,
               coalesce(CASE WHEN told.of ? 'column' THEN t.info -> (told.of ->> 'column') ELSE
                   predicted(%(project)s, t.id, jsonb_build_array(told.name, told.of -> 'model')) -> told.name END, 'null') AS suggested
          FROM told JOIN task_run r ON r.project_id = %(project)s AND r.id = told.id
               JOIN task t ON t.project_id = %(project)s AND t.id = told.task_id
         WHERE told.nth <= {COMPARED} AND jsonb_typeof(r.info) = 'object' AND jsonb_typeof(t.info) = 'object'
           AND pg_column_size(r.info) <= {_MAX_BYTES}""",
        {"project": project_id, "questions": as_json(questions)},
    )
