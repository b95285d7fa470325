"""Compare answers to gold tasks that take a library: marks on pictures, marked parts, and near texts."""

from __future__ import annotations

from typing import Final

from crowdd.features.trust.gold import Gold
from crowdd.sched.job import Job

_AT_ONCE: Final = 100


async def _compare(gold: Gold) -> str:
    return f"{await gold.compare_pending(_AT_ONCE)} answers"


JOB = Job("compare_gold", 2, lambda services: _compare(services.gold))
