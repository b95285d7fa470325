"""Results: finished tasks, their consensus, and the comparison of answers."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.database.access import Database
from crowdd.features.results import statements
from crowdd.features.results.comparing_process import ComparingProcess
from crowdd.features.results.comparisons import Comparisons
from crowdd.features.results.results import FinishedTasks, Results
from crowdd.sched.job import MINUTE, Job


@attrs.frozen
class ResultsFeature(Feature):
    """What came out of tasks. ``comparing`` compares answers in a process of its own."""

    comparing: ComparingProcess
    comparisons: Comparisons
    finished_tasks: FinishedTasks
    results: Results

    @classmethod
    def build(cls, base: Base) -> ResultsFeature:
        comparing = ComparingProcess(base.worker_thread.another())
        return cls(
            comparing=comparing,
            comparisons=Comparisons(base.db, base.notify, comparing),
            finished_tasks=FinishedTasks(base.db, base.worker_thread),
            results=Results(base.db, base.notify, base.quota, base.worker_thread, base.base_url),
        )


async def _compare_results(db: Database, notify: Callable[[int], None]) -> str:
    compared = 0
    for project_id in await statements.list_due_projects(db):
        while (n := await statements.compare_results(db, project_id)) > 0:
            compared += n
            if n < statements.COMPARISON_CHUNK:
                break
        if not await statements.is_comparison_due(db, project_id):
            await statements.choose_outcomes(db, project_id)
        notify(project_id)  # what takes longer is due now
    for project_id in await statements.list_crowded_projects(db):
        await statements.choose_outcomes(db, project_id)
    return f"{compared} results"


# Compare the answers in results again, after an upgrade or when a project has chosen another key, and count them.
COMPARE_RESULTS_JOB = Job(
    "compare_results", 5 * MINUTE, lambda house: _compare_results(house.base.db, house.base.notify), pause=5
)


async def _compare_answers(comparisons: Comparisons) -> str:
    return f"{len(await comparisons.run())} projects"


# Compare the answers of completed tasks where that takes longer than a transaction may, and fold the sums of alpha.
COMPARE_ANSWERS_JOB = Job(
    "compare_answers", MINUTE, lambda house: _compare_answers(house[ResultsFeature].comparisons), pause=1
)
"""People who wait for a consensus have it within about two seconds."""
