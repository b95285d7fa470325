"""The jobs that compare the answers of completed tasks, and compare results again after an upgrade or a new key."""

from __future__ import annotations

from crowdd.database.access import Database
from crowdd.features.results import statements
from crowdd.features.results.comparisons import Comparisons
from crowdd.sched.job import Job


async def _compare_results(db: Database) -> str:
    compared = 0
    for project_id in await statements.list_due_projects(db):
        while (n := await statements.compare_results(db, project_id)) > 0:
            compared += n
            if n < statements.COMPARISON_CHUNK:
                break
        if not await statements.is_comparison_due(db, project_id):
            await statements.choose_outcomes(db, project_id)
    for project_id in await statements.list_crowded_projects(db):
        await statements.choose_outcomes(db, project_id)
    return f"{compared} results"


# Compare the answers in results again, after an upgrade or when a project has chosen another key, and count them.
COMPARE_RESULTS_JOB = Job("compare_results", 5, lambda services: _compare_results(services.db))


async def _compare_answers(comparisons: Comparisons) -> str:
    return f"{len(await comparisons.run())} projects"


# Compare the answers of completed tasks where that takes longer than a transaction may, and fold the sums of alpha.
COMPARE_ANSWERS_JOB = Job("compare_answers", 1, lambda services: _compare_answers(services.comparisons))
"""People who wait for a consensus have it within about two seconds."""
