"""What was tried lately, under names that tell nothing: limits on guessing."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.storage.database import Database, one


async def count(db: Database, subjects: Sequence[str], limits: Sequence[int], minutes: Sequence[int]) -> int:
    """Counts an attempt at each subject in one statement; the seconds to wait when one is used up, and none is counted.

    A subject may be tried ``limits`` times in the ``minutes`` that its first attempt begins.
    """
    row = await one(
        db,
        "SELECT count_attempts(%(subjects)s, %(limits)s, %(minutes)s, clock()) AS wait",
        {"subjects": list(subjects), "limits": list(limits), "minutes": list(minutes)},
    )
    return int(row["wait"])


async def refund(db: Database, subjects: Sequence[str], cleared: Sequence[str] = ()) -> None:
    """Takes an attempt back from each subject; ``cleared`` ones start over."""
    await db.execute(
        "SELECT take_back_attempts(%(subjects)s::text[], %(cleared)s::text[])",
        {"subjects": list(subjects), "cleared": list(cleared)},
    )
