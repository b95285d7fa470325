"""The rule of the server against the same rule in memory: each task stops at the same answer, with the same class.

What the server logged of a crowd (answers and folds in their order) is played again by ``Weighing``, as published
formulas have it: what is learned counts from the next fold on. The server works a volunteer out again when something
new is known of them, and everybody when completed tasks have grown by 5 %. So one run has it work out everybody at each
fold, which must give the same stops; another one, as it is, shows what being late with the others changes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import attrs
import numpy as np

from bench.trust import play
from bench.trust.crowds import Crowd, Person, Shape
from crowdd.domain.tasks.review.weighing import Given, Weighing

SHAPE = Shape("mixed", 4, tasks=400, volunteers=60, gold=0)
SAME, SAME_LATE = 0.995, 0.95  # at least this share of stops


@attrs.frozen
class Stop:
    """After how many counted answers a task stopped, with which class and confidence."""

    answers: int
    label: int
    confidence: float


class _Again:
    """A log, played again."""

    def __init__(self, outcome: play.Outcome) -> None:
        self._weighing = Weighing(outcome.crowd.shape.classes)
        self._taken: list[list[Given]] = [[] for _ in outcome.label]
        self._learned: list[tuple[list[Given], list[float]]] = []
        self._numbers: dict[Person, int] = {}
        self.stops: list[Stop | None] = [None] * len(outcome.label)
        self.refused = 0
        for entry in outcome.log:
            if entry is None:
                self._fold()
            else:
                self._take(entry)

    def _fold(self) -> None:
        for taken, posterior in self._learned:
            self._weighing.learn(taken, posterior)
        self._learned.clear()
        self._weighing.fold()

    def _take(self, entry: play.Given) -> None:
        who = self._numbers.setdefault(entry.who, len(self._numbers))
        if self.stops[entry.task] is not None or not self._weighing.counts(who):
            self.refused += 1
            return
        taken = self._taken[entry.task]
        taken.append(Given(who, entry.said))
        if len(taken) < play.MIN_ANSWERS:
            return
        posterior = self._weighing.posterior(taken)
        top = max(posterior)
        if top >= play.CONFIDENCE or len(taken) == play.MAX_ANSWERS:
            self.stops[entry.task] = Stop(len(taken), posterior.index(top), top)
            self._learned.append((taken, posterior))


@attrs.frozen
class Comparison:
    """``same``: the share of tasks with the same number of answers and the same class. ``gap``: the greatest of confidence in these."""

    same: float
    gap: float

    @classmethod
    def of(cls, outcome: play.Outcome) -> Comparison:
        """What the server decided against what the log gives."""
        stops = _Again(outcome).stops
        pairs = zip(stops, outcome.counted, outcome.label, outcome.confidence, strict=True)
        same = [
            abs(stop.confidence - confidence)
            for stop, counted, label, confidence in pairs
            if stop is not None and (stop.answers, stop.label) == (counted, label)
        ]
        return cls(len(same) / len(stops), float(np.max(same)))


async def proven(answered: Callable[[Crowd, bool], Awaitable[play.Outcome]]) -> tuple[str, list[str]]:
    """A sentence, and what is violated."""
    exact = Comparison.of(await answered(Crowd(SHAPE, 1), True))
    late = Comparison.of(await answered(Crowd(SHAPE, 2), False))
    told = (
        f"The rule in memory stops {exact.same:.1%} of {SHAPE.tasks} tasks as the server does (confidence within"
        f" {exact.gap:.0e}); {late.same:.1%} (within {late.gap:.0e}) while it works out only those who were active"
    )
    violations = [
        f"The server stops {share:.1%} of the tasks as the same rule in memory, {least:.1%} are promised"
        for share, least in ((exact.same, SAME), (late.same, SAME_LATE))
        if share < least
    ]
    return told, violations
