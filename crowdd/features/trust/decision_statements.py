"""SQL of decisions by whole answers (definitions/review/55_decided_answers.sql), and of the queue without a label."""

from __future__ import annotations

from crowdd.database.access import Database, fetch_row
from crowdd.features.trust.rows import Decided


async def change(
    tx: Database, task: tuple[int, int], seen: int, user_id: int | None, answer: str | None, *, owns: bool
) -> Decided:
    """Decides a ``task`` (its project and itself) by an answer as JSON, or withdraws (None) what was decided.

    ``seen`` was its last result. See ``decide_answer`` and ``withdraw_decision`` for the state.
    """
    call = (
        "withdraw_decision(%(project)s, %(task)s, %(seen)s, %(user)s, %(owns)s, clock())"
        if answer is None
        else "decide_answer(%(project)s, %(task)s, %(seen)s, %(user)s, %(answer)s::jsonb, %(owns)s, clock())"
    )
    project_id, task_id = task
    values = {"project": project_id, "task": task_id, "seen": seen, "user": user_id, "answer": answer, "owns": owns}
    return await fetch_row(tx, Decided, f"SELECT * FROM {call}", values)


def by_agreement(complete: str) -> str:
    """Results that no expert has decided, those with the least agreement first, by the index result_agreement.

    Those without any are last. ``complete``: what is true of a completed task.
    """
    part = (
        "(SELECT {rank} AS rank, r.id, coalesce(r.agreement, 0) AS confidence, r.id AS task_id FROM result r"
        " WHERE r.project_id + 0 = %(project)s AND r.project_id = %(project)s AND r.last_version AND r.reason IS NULL"
        f" AND {{behind}} AND {complete} ORDER BY r.agreement, r.id LIMIT %(maximum)s)"
    )
    measured = (
        "r.agreement IS NOT NULL AND NOT EXISTS (SELECT FROM here WHERE agreement IS NULL) AND (r.agreement, r.id)"
        " > (coalesce((SELECT agreement FROM here), -1), coalesce((SELECT id FROM here), 0))"
    )
    others = "r.agreement IS NULL AND r.id > coalesce((SELECT id FROM here WHERE agreement IS NULL), 0)"
    parts = f"{part.format(rank=1, behind=measured)} UNION ALL {part.format(rank=2, behind=others)}"
    return f"{parts} ORDER BY 1, 3, 4 LIMIT %(maximum)s"
