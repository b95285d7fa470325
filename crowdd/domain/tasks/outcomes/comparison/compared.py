"""What values at an answer field say together, and what all of its types need to find out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, Final, TypeAlias, TypeVar

import attrs

from crowdd.values import Values

Answer: TypeAlias = Any
"""What an answer says at a field, as JSON that fits the type of the field."""
T = TypeVar("T")
MAX_PAIRED: Final = 50
"""Of more values the pairs of so many are compared, those that were given first."""
_DIGITS: Final = 7


@attrs.frozen
class Compared:
    """``n`` values were compared. ``value`` is their consensus where ``won``; agreement and confidence are 0 to 1.

    As in ``result``: without values nothing but ``n`` is known, and a single value agrees with itself.
    """

    n: int
    won: bool = False
    value: Answer = None
    agreement: float | None = None
    confidence: float | None = None

    @property
    def as_json(self) -> Values:
        """As ``store_compared`` takes it."""
        value = {"value": self.value} if self.won else {}
        return {**value, "answers": self.n, "agreement": self.agreement, "confidence": self.confidence}


def mean(values: Iterable[float], empty: float = 1.0) -> float:
    """The mean; ``empty`` without values."""
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else empty


def agreement(values: Sequence[T], distance: Callable[[T, T], float]) -> float:
    """1 - the mean distance of pairs."""
    return 1 - mean((distance(one, other) for one, other in combinations(values[:MAX_PAIRED], 2)), 0.0)


def short(number: float) -> float:
    """A number of a consensus with as many digits as matter; a whole one as an integer."""
    rounded = float(f"{number:.{_DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded
