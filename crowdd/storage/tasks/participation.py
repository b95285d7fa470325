"""What a person gave and marked: their own answers and favourites, page by page."""

from __future__ import annotations

from crowdd.storage.database import Database, fetch_rows
from crowdd.storage.tasks.rows import OwnAnswer

_MAX_INFO_BYTES = 4000  # of an answer; of a larger one nothing is shown
# Whether an answer counts, as far as its author is told: that it was late or surplus, but not that its task was gold, nor what is known of
# them. While there are gold tasks, nothing.
COUNTED_TO_AUTHOR = "(counted OR unreliable OR gold OR (SELECT has_gold FROM project p WHERE p.id = project_id))"


async def answers(db: Database, user_id: int, before: int, maximum: int) -> list[OwnAnswer]:
    """The last answers of a person before one, the newest first. Reads as many rows as it returns."""
    return await fetch_rows(
        db,
        OwnAnswer,
        "SELECT id, project_id, task_id, finish_time, trial,"
        f" {COUNTED_TO_AUTHOR} AS counted,"
        f" CASE WHEN octet_length(info::text) <= {_MAX_INFO_BYTES} THEN info END AS info"
        " FROM task_run WHERE user_id = %(user)s AND id < %(before)s ORDER BY id DESC LIMIT %(maximum)s",
        {"user": user_id, "before": before, "maximum": maximum},
    )


async def favourites(db: Database, user_id: int, before: int, maximum: int) -> list[int]:
    """The tasks that a person marked, those with an id below ``before``, the newest tasks first."""
    rows = await db.fetch(
        "SELECT task_id FROM favourite WHERE user_id = %(user)s AND task_id < %(before)s"
        " ORDER BY task_id DESC LIMIT %(maximum)s",
        {"user": user_id, "before": before, "maximum": maximum},
    )
    return [row["task_id"] for row in rows]
