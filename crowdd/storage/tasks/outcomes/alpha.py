"""The sums of which Krippendorff's alpha of a project is made, and answers drawn at random (definitions/tasks/29_comparison.sql)."""

from __future__ import annotations

from decimal import Decimal
from typing import TypedDict

import attrs

from crowdd.storage.database import Database, fetch_row, fetch_rows
from crowdd.values import Json, Values


class AlphaSum(TypedDict):
    """A sum of a field, 1 for the first."""

    field: int
    part: str
    amount: Decimal


class Expected(TypedDict):
    """The expected disagreement of a field, measured when the project had so many ``answers``; None: they are all the same."""

    field: int
    expected: float | None
    answers: Decimal


@attrs.frozen
class Drawn:
    """``fields`` of a project as in ``project.answer_fields``, and answers to random tasks as in ``DueComparison``."""

    fields: list[Values] | None
    tasks: list[list[list[list[Json]]]]


async def sums(db: Database, project_id: int) -> list[AlphaSum]:
    """All sums of a project, exact."""
    return await fetch_rows(
        db, AlphaSum, "SELECT field, part, amount FROM alpha_sums(%(project)s)", {"project": project_id}
    )


async def expected(db: Database, project_id: int) -> list[Expected]:
    """What was measured."""
    return await fetch_rows(
        db,
        Expected,
        "SELECT field, expected, answers FROM alpha_expected WHERE project_id = %(project)s",
        {"project": project_id},
    )


async def sample(db: Database, project_id: int, maximum: int) -> Drawn:
    """The answers to at most so many tasks with a result, drawn by their ids; to all tasks if there are no more."""
    return await fetch_row(
        db,
        Drawn,
        """
        WITH p AS MATERIALIZED (SELECT id, answer_fields FROM project WHERE id = %(project)s),
        few AS MATERIALIZED (SELECT id, task_run_ids FROM result WHERE project_id = %(project)s AND last_version ORDER BY id LIMIT %(maximum)s + 1),
        ends AS MATERIALIZED (SELECT min(id) AS low, max(id) AS high FROM result WHERE project_id = %(project)s AND last_version),
        drawn AS (
            SELECT id, task_run_ids FROM few WHERE (SELECT count(*) FROM few) <= %(maximum)s UNION
            SELECT x.id, x.task_run_ids FROM ends, generate_series(1, %(maximum)s), LATERAL (SELECT low + floor(random() * (high - low + 1))::bigint AS at OFFSET 0) a,
                   LATERAL (SELECT id, task_run_ids FROM result r WHERE r.project_id = %(project)s AND r.last_version AND r.id >= a.at ORDER BY r.id LIMIT 1) x
             WHERE (SELECT count(*) FROM few) > %(maximum)s)
        SELECT (SELECT answer_fields FROM p) AS fields,
               (SELECT coalesce(json_agg(compared_values(p.id, d.task_run_ids, p.answer_fields)), '[]') FROM drawn d, p WHERE p.answer_fields IS NOT NULL) AS tasks""",
        {"project": project_id, "maximum": maximum},
    )


async def store_expected(db: Database, project_id: int, field: int, expected: float | None, answers: Decimal) -> None:
    """Keeps what was measured, unless the project is gone."""
    await db.execute(
        "INSERT INTO alpha_expected (project_id, field, expected, answers)"
        " SELECT id, %(field)s, %(expected)s, %(answers)s FROM project WHERE id = %(project)s"
        " ON CONFLICT (project_id, field) DO UPDATE SET expected = excluded.expected, answers = excluded.answers",
        {"project": project_id, "field": field, "expected": expected, "answers": answers},
    )
