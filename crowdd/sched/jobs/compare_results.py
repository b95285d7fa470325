"""Compare the answers in results again, after an upgrade or when a project has chosen another key, and count them."""

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
        if not await agreement.is_due(db, project_id):
            await agreement.choose_outcomes(db, project_id)
    for project_id in await agreement.crowded(db):
        await agreement.choose_outcomes(db, project_id)
    return f"{compared} results"


JOB = Job("compare_results", 5, lambda services: _compare(services.db))
