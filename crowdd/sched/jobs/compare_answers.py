"""Compare the answers of completed tasks where that takes longer than a transaction may, and fold the sums of alpha."""

from __future__ import annotations

from crowdd.domain.tasks.outcomes.comparisons import Comparisons
from crowdd.sched.job import Job


async def _compare(comparisons: Comparisons) -> str:
    return f"{len(await comparisons.run())} projects"


JOB = Job("compare_answers", 1, lambda services: _compare(services.comparisons))
"""People who wait for a consensus have it within about two seconds."""
