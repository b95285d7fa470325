"""SQL of comparisons that are due, and of the sums that make up Krippendorff's alpha of a project.

The functions are in definitions/tasks/29_comparison.sql. Answers for the expected disagreement are drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import TypedDict

import attrs

from crowdd.database.access import Database, as_json, fetch_row, fetch_rows, one
from crowdd.kernel.values import Json, Values


class AlphaSum(TypedDict):
    """A sum of a field, 1 for the first."""

    field: int
    part: str
    amount: Decimal


class Expected(TypedDict):
    """The expected disagreement of a field, measured when the project had so many ``answers``; None: they are all the same.

    ``failure``: why it could not be measured ``tries`` times; ``waits`` until it is tried again. With 0 ``answers``
    it has never been measured.
    """

    field: int
    expected: float | None
    answers: Decimal
    failure: str | None
    tries: int
    waits: bool


class FailedComparisons(TypedDict):
    """How many results, fields of alpha and answers to gold tasks could not be compared.

    ``failure``: why one of the results could not. ``again``: some of all these are tried again without being told to.
    """

    results: int
    fields: int
    gold: int
    failure: str | None
    again: bool


@attrs.frozen
class AlphaDue:
    """A project whose expected disagreements are to be looked at, as they are when the row was ``read``."""

    project_id: int
    read: datetime


@attrs.frozen
class Drawn:
    """``fields`` of a project as in ``project.answer_fields``, and answers to random tasks as in ``DueComparison``."""

    fields: list[Values] | None
    tasks: list[list[list[list[Json]]]]


async def list_alpha_sums(db: Database, project_id: int) -> list[AlphaSum]:
    """All sums of a project, exact."""
    return await fetch_rows(
        db, AlphaSum, "SELECT field, part, amount FROM alpha_sums(%(project)s)", {"project": project_id}
    )


async def list_expected_disagreements(db: Database, project_id: int) -> list[Expected]:
    """What was measured."""
    return await fetch_rows(
        db,
        Expected,
        "SELECT field, expected, answers, failure, tries, failure IS NOT NULL AND coalesce(retry_at > clock(), true) AS waits"
        " FROM alpha_expected WHERE project_id = %(project)s",
        {"project": project_id},
    )


async def sample_answers(db: Database, project_id: int, maximum: int) -> Drawn:
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


async def store_expected(
    db: Database,
    project_id: int,
    field: int,
    answers: Decimal,
    expected: float | None,
    failure: str | None,
    retry_seconds: float | None,
) -> None:
    """Keeps what was measured, or why it could not be and when it is tried again, unless the project is gone."""
    await db.execute(
        "SELECT store_expected(%(project)s, %(field)s, %(expected)s, %(answers)s, %(failure)s,"
        " clock() + %(seconds)s * interval '1 second')",
        {
            "project": project_id,
            "field": field,
            "expected": expected,
            "answers": answers,
            "failure": failure,
            "seconds": retry_seconds,
        },
    )


async def list_alpha_due(db: Database) -> list[AlphaDue]:
    """The projects whose expected disagreements are to be looked at."""
    return await fetch_rows(
        db, AlphaDue, "SELECT project_id, clock() AS read FROM alpha_due WHERE due <= clock() ORDER BY due"
    )


async def end_measuring(db: Database, due: AlphaDue) -> None:
    """The expected disagreements of a project were looked at."""
    await db.fetch("SELECT measured(%(project)s, %(read)s)", {"project": due.project_id, "read": due.read})


async def count_failed(db: Database, project_id: int) -> FailedComparisons:
    """What of a project could not be compared."""
    return await fetch_row(
        db,
        FailedComparisons,
        "SELECT c.n AS results, a.n AS fields, g.n AS gold, c.failure, coalesce(c.again, false) OR coalesce(a.again, false) OR coalesce(g.again, false) AS again"
        " FROM (SELECT count(*)::int AS n, min(failure) AS failure, bool_or(retry_at IS NOT NULL) AS again FROM comparison_due"
        " WHERE project_id = %(project)s AND failure IS NOT NULL) c,"
        " (SELECT count(*)::int AS n, bool_or(retry_at IS NOT NULL) AS again FROM alpha_expected WHERE project_id = %(project)s AND failure IS NOT NULL) a,"
        " (SELECT count(*)::int AS n, bool_or(retry_at IS NOT NULL) AS again FROM gold_failure WHERE project_id = %(project)s) g",
        {"project": project_id},
    )


async def retry_failed(db: Database, project_id: int) -> int:
    """Has all that tried again at once; how much it is."""
    return int((await one(db, "SELECT retry_comparisons(%(project)s, clock()) AS n", {"project": project_id}))["n"])


@attrs.frozen
class DueComparison:
    """A result that is due. ``fields`` and ``answers`` are None if it is no longer the last of its task.

    ``fields`` are ``project.answer_fields``. ``answers`` is a JSON array, in which an answer has ``[value]`` or ``[]`` for
    each of them: a text, because nobody knows yet what it takes to read. ``first_answers``: how many of the answers tell
    of agreement in the project; None: all. ``tries``: how often it has failed.
    """

    project_id: int
    task_id: int
    result_id: int
    stamp: int
    fields: list[Values] | None
    first_answers: int | None
    answers: str | None
    tries: int


async def list_due_comparisons(db: Database, maximum: int, answers: int) -> list[DueComparison]:
    """The oldest, at most ``maximum`` with about so many answers together."""
    return await fetch_rows(
        db,
        DueComparison,
        "SELECT project_id, task_id, result_id, stamp, fields, first_answers, answers::text AS answers, 0 AS tries"
        " FROM due_comparisons(%(maximum)s, %(answers)s)",
        {"maximum": maximum, "answers": answers},
    )


async def list_failed_comparisons(db: Database, maximum: int) -> list[DueComparison]:
    """Those that have failed and are to be tried again, the longest due first."""
    return await fetch_rows(
        db,
        DueComparison,
        "SELECT project_id, task_id, result_id, stamp, fields, first_answers, answers::text AS answers, tries"
        " FROM failed_comparisons(%(maximum)s, clock())",
        {"maximum": maximum},
    )


async def store_comparisons(db: Database, comparisons: Sequence[Values]) -> list[int]:
    """Stores what results say (``store_comparisons``). The ids of the projects in which one has changed."""
    rows = await db.fetch(
        "SELECT DISTINCT id FROM store_comparisons(%(found)s, clock()) s (id)", {"found": as_json(comparisons)}
    )
    return [row["id"] for row in rows]


async def fold_alpha(db: Database, maximum: int) -> int:
    """Folds at most so many appended rows into the sums of alpha; how many."""
    return int((await one(db, "SELECT fold_alpha(%(maximum)s) AS n", {"maximum": maximum}))["n"])
