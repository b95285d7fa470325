"""When a project will be done, from its last days."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from datetime import date, datetime, timedelta

import attrs

_WIDTH = 1.2816  # standard deviations on both sides of which lie 80 of 100 outcomes
MIN_DAYS = 2
"""With less behind it a pace is chance: an hour's rush makes millions of answers a day."""
_MAX_DAYS = 36_500  # further ahead nothing can be said


@attrs.frozen
class Estimate:
    """``per_day`` is what was done on a day on average. In 4 of 5 cases the end lies between earliest and latest.

    ``latest`` is None when the days differ so much that the work may go on for any time.
    """

    per_day: float
    expected: date
    earliest: date
    latest: date | None


def estimate(remaining: float, days: Sequence[int], now: datetime, began: datetime) -> Estimate | None:
    """When ``remaining`` answers will have come; None where that cannot be said: nothing to do, or too little was seen.

    ``days`` are the answers that counted on each of the last days; the last is today, which is not over. ``began`` is
    when the project opened: it has to be MIN_DAYS ago, and answers have to have come on as many days.
    """
    today = (now.hour * 3600 + now.minute * 60 + now.second) / 86400
    length = min(len(days) - 1 + today, (now - began) / timedelta(days=1))
    done = sum(days)
    if remaining <= 0 or done <= 0 or length < MIN_DAYS or sum(day > 0 for day in days) < MIN_DAYS:
        return None
    mean = done / length
    earliest, latest = _spread(remaining, mean, _variance(days[:-1], mean), length)
    expected = remaining / mean
    if expected > _MAX_DAYS:
        return None
    last = _after(now, latest) if latest <= _MAX_DAYS else None
    return Estimate(mean, _after(now, expected), _after(now, earliest), last)


def _variance(full_days: Sequence[int], mean: float) -> float:
    """How much days differ: as they did, but never less than arrivals by chance would."""
    return max(mean, statistics.variance(full_days)) if len(full_days) > 1 else mean


def _spread(remaining: float, mean: float, variance: float, length: float) -> tuple[float, float]:
    """The days after which the work is done early and late.

    After n days n * mean has come, give or take the chance of these n days and that of the days that the mean is from:
    (n * mean - remaining)² = width² * variance * (n + n² / length), solved for n.
    """
    chance = _WIDTH**2 * variance
    square, line = mean**2 - chance / length, 2 * remaining * mean + chance
    root = math.sqrt(max(0.0, line**2 - 4 * square * remaining**2))
    early = 2 * remaining**2 / (line + root)
    return early, (line + root) / (2 * square) if square > 0 else math.inf


def _after(now: datetime, days: float) -> date:
    return (now + timedelta(days=days)).date()
