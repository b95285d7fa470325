"""Trust in answers: gold tasks, review, and redundancy that follows agreement."""

from __future__ import annotations

from typing import Final

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.results.feature import ResultsFeature
from crowdd.features.tasks.feature import TasksFeature
from crowdd.features.trust.adaptive import AdaptiveRedundancy, TrustOverview
from crowdd.features.trust.gold import Gold
from crowdd.features.trust.review import ReviewQueue
from crowdd.features.trust.sampling import Sampling
from crowdd.features.trust.task_rules import TaskRules
from crowdd.features.trust.whole_answers import WholeAnswers
from crowdd.sched.job import MINUTE, Job


@attrs.frozen
class TrustFeature(Feature):
    """What is known of the quality of answers, and what follows from it."""

    gold: Gold
    reviews: ReviewQueue
    whole_answers: WholeAnswers
    trust_overview: TrustOverview
    adaptive: AdaptiveRedundancy
    sampling: Sampling
    task_rules: TaskRules

    @classmethod
    def build(
        cls,
        base: Base,
        results: ResultsFeature,
        tasks: TasksFeature,
    ) -> TrustFeature:
        gold = Gold(base.db, base.notify, tasks.changes, results.comparing)
        overview = TrustOverview(base.db, base.worker_thread.another())
        return cls(
            gold=gold,
            reviews=ReviewQueue(base.db, base.records, base.notify, gold),
            whole_answers=WholeAnswers(base.db, base.records, base.notify),
            trust_overview=overview,
            adaptive=AdaptiveRedundancy(tasks.changes, overview),
            sampling=Sampling(base.db, base.records, base.notify, base.worker_thread.another()),
            task_rules=TaskRules(base.db, tasks.changes, base.notify),
        )


_AT_ONCE: Final = 100


async def _recalibrate(sampling: Sampling) -> str:
    return f"{await sampling.recalibrate_due()} projects"


async def _compare(gold: Gold) -> str:
    compared = 0
    while n := await gold.compare_pending(_AT_ONCE):
        compared += n
    return f"{compared} answers"


# Measure how often results are right, in projects whose experts have decided more of a random sample.
RECALIBRATE = Job("recalibrate", 10 * MINUTE, lambda house: _recalibrate(house[TrustFeature].sampling))
JOB = Job("compare_gold", MINUTE, lambda house: _compare(house[TrustFeature].gold), pause=2)
