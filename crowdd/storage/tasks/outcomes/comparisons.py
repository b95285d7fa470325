"""Results that are due to be compared, and what their answers say (definitions/tasks/29_comparison.sql)."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from crowdd.storage.database import Database, as_json, fetch_rows, one
from crowdd.values import Values


@attrs.frozen
class DueComparison:
    """A result that is due. ``fields`` and ``answers`` are None if it is no longer the last of its task.

    ``fields`` are ``project.answer_fields``. ``answers`` is a JSON array, in which an answer has ``[value]`` or ``[]`` for
    each of them: a text, because nobody knows yet what it takes to read. ``first_answers``: how many of the answers tell
    of agreement in the project; None: all.
    """

    project_id: int
    task_id: int
    result_id: int
    stamp: int
    fields: list[Values] | None
    first_answers: int | None
    answers: str | None


async def due(db: Database, maximum: int, answers: int) -> list[DueComparison]:
    """The oldest, at most ``maximum`` with about so many answers together."""
    return await fetch_rows(
        db,
        DueComparison,
        "SELECT project_id, task_id, result_id, stamp, fields, first_answers, answers::text AS answers"
        " FROM due_comparisons(%(maximum)s, %(answers)s)",
        {"maximum": maximum, "answers": answers},
    )


async def store(db: Database, comparisons: Sequence[Values]) -> list[int]:
    """Stores what results say (``store_comparisons``). The ids of the projects in which one has changed."""
    rows = await db.fetch(
        "SELECT DISTINCT id FROM store_comparisons(%(found)s, clock()) s (id)", {"found": as_json(comparisons)}
    )
    return [row["id"] for row in rows]


async def give_up(db: Database, stamp: int, failure: str) -> None:
    """Marks a task whose answers could not be compared, so that it is not tried again."""
    await db.execute(
        "UPDATE comparison_due SET failure = %(failure)s WHERE stamp = %(stamp)s", {"stamp": stamp, "failure": failure}
    )


async def fold_alpha(db: Database, maximum: int) -> int:
    """Folds at most so many appended rows into the sums of alpha; how many."""
    return int((await one(db, "SELECT fold_alpha(%(maximum)s) AS n", {"maximum": maximum}))["n"])
