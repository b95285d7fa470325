"""How large an answer may be: 256 kB, or ``info.max_answer_bytes`` of its project; and how many marks it may have."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.kinds.answers import MarkLimit, declared
from crowdd.kinds.answers.marks import OF_MARKS, may_be_many
from crowdd.kinds.sizes import json_bytes, too_large
from crowdd.kinds.task_run import MAX_ANSWER_BYTES
from crowdd.storage.database import Database
from crowdd.storage.projects import projects
from crowdd.values import Json, Values


async def require(db: Database, project_id: int, info: object) -> int:
    """The size of an ``info`` in bytes; the database is asked for its project's limits where it is large.

    Raises TooLargeError beyond those limits.
    """
    size = json_bytes(info)
    if size > MAX_ANSWER_BYTES:
        limit = await projects.max_answer_bytes(db, project_id) or MAX_ANSWER_BYTES
        if size > limit:
            raise too_large("info", limit, size)
    if may_be_many(info, size):
        MarkLimit.of(await projects.what_marks_are(db, project_id)).require(info)
    return size


async def require_right(db: Database, project_id: int, answers: Sequence[Json], rule: Values | None) -> None:
    """Raises TooLargeError when a right answer to a gold task has more marks than an answer may have."""
    info = await projects.what_marks_are(db, project_id)
    fields = declared(info)
    if (rule["type"] if rule else fields[0].type if fields else "") in OF_MARKS:
        for answer in answers:
            MarkLimit.of(info).require_few([answer])
