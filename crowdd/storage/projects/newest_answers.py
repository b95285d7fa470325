"""The newest answers of a project, for a look at what they contain."""

from __future__ import annotations

from typing import Final, TypedDict

from crowdd.storage.database import Database, fetch_rows
from crowdd.values import Json

MAX_ANSWERS: Final = 200
_MAX_BYTES: Final = 1_000_000


class NewestAnswer(TypedDict):
    """An answer and the task that it is about."""

    id: int
    task_id: int
    info: Json


async def newest(db: Database, project_id: int, maximum: int = MAX_ANSWERS) -> list[NewestAnswer]:
    """The newest answers, the newest first: at most so many, and so many as have 1 MB."""
    return await fetch_rows(
        db,
        NewestAnswer,
        "SELECT id, task_id, info FROM (SELECT id, task_id, info, sum(pg_column_size(info)) OVER (ORDER BY id DESC) AS size FROM ("
        "SELECT id, task_id, info FROM task_run WHERE project_id = %(id)s ORDER BY id DESC LIMIT %(maximum)s) r) r"
        " WHERE size <= %(bytes)s ORDER BY id DESC",
        {"id": project_id, "maximum": maximum, "bytes": _MAX_BYTES},
    )
