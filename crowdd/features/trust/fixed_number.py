"""What a policy saves: against the fixed number of answers that is as accurate, on tasks whose truth is known.

A fixed number counts with the better of two ways to read its answers: majority, and the weights that the replay knows.
Between two numbers it is in proportion. The interval is that of a delete-a-group jackknife (Kott 2001).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

import attrs

from crowdd.features.trust.rows import MIN_MEASURED
from crowdd.features.trust.weighing import Given, Weighing

_GROUPS: Final = 20
_T: Final = 2.093  # of Student's distribution with 19 degrees of freedom, for 95 %


@attrs.frozen
class JudgedTask:
    """A task whose truth is known: how many answers the policy ``asked``, and whether its class was ``right``.

    ``fixed``: of each way, how right the first answers are, for 1, 2 … of them. Of classes that are equal one is drawn.
    """

    asked: int
    right: bool
    fixed: Sequence[Sequence[float]]


@attrs.frozen
class FixedComparison:
    """Of ``tasks`` with a known truth a policy has ``accuracy`` right, and so has a fixed number of ``needed`` answers.

    ``saved`` is the share of those answers that it does not ask for, from ``low`` to ``high`` (95 %); below 0 it asks
    for more. None: no number of answers that there are is as accurate, or not in each part of the tasks.
    """

    tasks: int
    accuracy: float
    needed: float | None
    saved: float | None
    low: float | None
    high: float | None


def judged(weighing: Weighing, answers: Sequence[Given], truth: int, asked: int, label: int) -> JudgedTask:
    """A task that the policy ended after ``asked`` answers with a ``label``, with what was known of volunteers then."""
    majority, weighed = [], []
    counts = Counter[int]()
    for n, one in enumerate(answers, 1):
        counts[one.label] += 1
        majority.append(_right(dict(counts), truth))
        weighed.append(_right(dict(enumerate(weighing.posterior(answers[:n]))), truth))
    return JudgedTask(asked, label == truth, (majority, weighed))


def _right(sizes: dict[int, float], truth: int) -> float:
    largest = max(sizes.values())
    best = [label for label, size in sizes.items() if size >= largest - 1e-9]
    return 1 / len(best) if truth in best else 0.0


def compare(tasks: Sequence[JudgedTask]) -> FixedComparison | None:
    """None with fewer tasks than MIN_MEASURED."""
    if len(tasks) < MIN_MEASURED:
        return None
    number = max(len(task.fixed[0]) for task in tasks)
    groups = [_Sums.of(tasks[nth::_GROUPS], number) for nth in range(_GROUPS)]
    whole = _Sums.together(groups)
    saved = whole.saved()
    parts = [_Sums.together([*groups[:nth], *groups[nth + 1 :]]).saved() for nth in range(_GROUPS)]
    known = [part for part in parts if part is not None]
    low = high = None
    if saved is not None and len(known) == _GROUPS:
        mean = sum(known) / _GROUPS
        error = math.sqrt((_GROUPS - 1) / _GROUPS * sum((part - mean) ** 2 for part in known))
        low, high = saved - _T * error, saved + _T * error
    return FixedComparison(len(tasks), whole.right / whole.tasks, whole.needed(), saved, low, high)


@attrs.frozen
class _Sums:
    tasks: int
    asked: int
    right: int
    fixed: Sequence[Sequence[float]]

    @classmethod
    def of(cls, tasks: Sequence[JudgedTask], number: int) -> _Sums:
        """A task that has fewer answers than a number stays as it is."""
        fixed = [
            [sum(task.fixed[way][min(n, len(task.fixed[way])) - 1] for task in tasks) for n in range(1, number + 1)]
            for way in range(2)
        ]
        return cls(len(tasks), sum(task.asked for task in tasks), sum(task.right for task in tasks), fixed)

    @classmethod
    def together(cls, parts: Sequence[_Sums]) -> _Sums:
        fixed = [[sum(column) for column in zip(*(part.fixed[way] for part in parts), strict=True)] for way in range(2)]
        return cls(
            sum(part.tasks for part in parts),
            sum(part.asked for part in parts),
            sum(part.right for part in parts),
            fixed,
        )

    def needed(self) -> float | None:
        """The fixed number that is as accurate."""
        before = 0.0
        for n, (majority, weighed) in enumerate(zip(*self.fixed, strict=True), 1):
            best = max(before, majority, weighed)
            if best >= self.right - 1e-9:
                return float(n) if n == 1 else n - 1 + (self.right - before) / (best - before)
            before = best
        return None

    def saved(self) -> float | None:
        """Of the answers of that number."""
        needed = self.needed()
        return None if needed is None else 1 - self.asked / self.tasks / needed
