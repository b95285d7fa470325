"""How large an answer may be: 256 kB, or what its project says in ``info.max_answer_bytes``."""

from __future__ import annotations

from crowdd.kinds.sizes import json_bytes, too_large
from crowdd.kinds.task_run import MAX_ANSWER_BYTES
from crowdd.storage.database import Database
from crowdd.storage.projects import projects


async def require(db: Database, project_id: int, info: object) -> int:
    """The size of an ``info`` in bytes; the database is asked for its project's limit where it is large.

    Raises TooLargeError beyond that limit.
    """
    size = json_bytes(info)
    if size <= MAX_ANSWER_BYTES:
        return size
    limit = await projects.max_answer_bytes(db, project_id) or MAX_ANSWER_BYTES
    if size > limit:
        raise too_large("info", limit, size)
    return size
