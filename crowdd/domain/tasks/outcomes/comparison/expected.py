"""The disagreement that chance alone would give, where it does not follow from sums. Pure functions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final

from crowdd.domain.tasks.outcomes.comparison import alpha_sums
from crowdd.domain.tasks.outcomes.comparison.of_task import fitting, read_field
from crowdd.kinds.answers import AnswerField
from crowdd.values import Values

_PAIRS: Final = 2000


def measured(fields: Sequence[Values], tasks: Sequence[Any], seed: int) -> list[float | None]:
    """The expected disagreement of each field: the mean distance of 2,000 pairs of answers, or of all if fewer.

    None where it follows from sums. The answers are those to tasks with two of them or more.
    """
    return [_measured(read_field(field), nth, tasks, random.Random(seed)) for nth, field in enumerate(fields)]  # noqa: S311


def _measured(field: AnswerField, nth: int, tasks: Sequence[Any], chance: random.Random) -> float | None:
    if alpha_sums.is_exact(field):
        return None
    by_task = (fitting(field, [answer[nth] for answer in answers]) for answers in tasks)
    values = [value for task_values in by_task if len(task_values) > 1 for value in task_values]
    if len(values) < 2:
        return None
    read, distance = alpha_sums.measure(field, values)
    known = [read(value) for value in values]
    pairs = list(combinations(known, 2)) if len(known) * (len(known) - 1) <= 2 * _PAIRS else None
    drawn = pairs or [tuple(chance.sample(known, 2)) for _ in range(_PAIRS)]
    return sum(distance(one, other) for one, other in drawn) / len(drawn)
