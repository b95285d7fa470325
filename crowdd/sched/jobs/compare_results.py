"""Compare the answers in results again, after an upgrade and after a project has chosen another key."""

from __future__ import annotations

from crowdd.sched.job import Job
from crowdd.storage.database import Database
from crowdd.storage.tasks import agreement


async def _compare(db: Database) -> str:
    compared = 0
    for project_id in await agreement.due(db):
        while (n := await agreement.compare(db, project_id)) > 0:
            compared += n
            if n < agreement.CHUNK:
                break
    return f"{compared} results"


JOB = Job("compare_results", 5, lambda services: _compare(services.db))
