"""Sets of choices and single choices, as far as agreement in a project needs them."""

from __future__ import annotations

from collections.abc import Iterable

from crowdd.domain.tasks.outcomes.comparison.compared import Answer
from crowdd.kinds.answers.fields import key

Labels = frozenset[tuple[type, Answer]]


def read(value: Iterable[Answer]) -> Labels:
    """The choices of an answer."""
    return frozenset(map(key, value))


def distance(one: Labels, other: Labels) -> float:
    """1 - Jaccard index x MASI weight (Passonneau 2006)."""
    if one == other:
        return 0.0
    both, either = one & other, one | other
    return 1 - len(both) / len(either) * (2 / 3 if both in (one, other) else 1 / 3)
