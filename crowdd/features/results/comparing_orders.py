"""Compare dates, of which some may be known in part, and rankings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Final

from crowdd.features.results.comparing import Answer, Compared, agreement, mean
from crowdd.kinds.answers import AnswerField
from crowdd.kinds.answers.fields import key

_IN_PART: Final = 0.5  # how far a date is from a part of it


def date_distance(one: str, other: str) -> float:
    """0 for the same date, a half where one is part of the other (a month of its year), otherwise 1."""
    if one == other:
        return 0.0
    return _IN_PART if one.startswith(other) or other.startswith(one) else 1.0


def compare_dates(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """The date of more than half; otherwise the median of those that are as exact as most; none between two.

    Confidence is the share of the answers that say nothing else.
    """
    if not values:
        return Compared(0)
    agreed = agreement(values, date_distance)
    (date, n), *_ = Counter(values).most_common(1)
    if 2 * n <= len(values):
        exact = sorted(map(len, values))[(len(values) - 1) // 2]
        dates = sorted(value[:exact] for value in values if len(value) >= exact)
        date = dates[len(dates) // 2]
        if date != dates[(len(dates) - 1) // 2]:
            return Compared(len(values), agreement=agreed)
    same = sum(date_distance(date, value) < 1 for value in values)
    return Compared(len(values), True, date, agreed, same / len(values))


Order = tuple[tuple[type, object], ...]


def read_order(value: Sequence[Answer]) -> Order:
    """The entries of an answer, the first one first."""
    return tuple(map(key, value))


def order_distance(one: Order, other: Order) -> float:
    """The share of pairs of entries that stand the other way round (Kendall)."""
    place = {entry: nth for nth, entry in enumerate(other)}
    pairs = [*combinations([place[entry] for entry in one if entry in place], 2)]
    return mean((first > second for first, second in pairs), 0.0)


def compare_rankings(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """The order of the mean ranks (Borda); none if two are the same. Confidence: how alike the answers are to it."""
    if not values:
        return Compared(0)
    orders = [read_order(value) for value in values]
    agreed = agreement(orders, order_distance)
    places = Counter(entry for order in orders for entry in order)
    ranks = {entry: sum(order.index(entry) for order in orders if entry in order) / n for entry, n in places.items()}
    if len({*ranks.values()}) < len(ranks):
        return Compared(len(values), agreement=agreed)
    ranked = tuple(sorted(ranks, key=ranks.__getitem__))
    confidence = 1 - mean(order_distance(ranked, order) for order in orders)
    return Compared(len(values), True, [entry for _, entry in ranked], agreed, confidence)
