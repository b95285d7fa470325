"""Whether results are as often right as they claim: confidence in steps against the share that was right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from crowdd.domain.tasks.outcomes.intervals import share_interval

STEPS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.98)
HEADLINE = 0.95
"""The step that the headline is about."""
MIN_HEADLINE = 50
"""So many checked tasks are needed for a headline."""


class CalibrationStep(TypedDict):
    """Checked tasks with a confidence from ``minimum`` to below ``below`` (None: to 1).

    ``claimed`` is their mean confidence, ``share`` that of those that were right, ``low`` and ``high`` its interval.
    """

    minimum: float
    below: float | None
    tasks: int
    right: int
    claimed: float
    share: float
    low: float
    high: float


class Calibration(TypedDict):
    """Steps with tasks in them. ``error``: the mean distance of claimed and measured, over all ``tasks``."""

    tasks: int
    right: int
    steps: list[CalibrationStep]
    error: float | None


def calibration(checked: Iterable[tuple[float, bool]]) -> Calibration:
    """Of pairs of a confidence and whether the result was right."""
    pairs_by_step: dict[int, list[tuple[float, bool]]] = {}
    for confidence, right in checked:
        nth = max(n for n, minimum in enumerate(STEPS) if confidence >= minimum)
        pairs_by_step.setdefault(nth, []).append((confidence, right))
    steps = [_step(nth, pairs) for nth, pairs in sorted(pairs_by_step.items())]
    tasks = sum(step["tasks"] for step in steps)
    distance = sum(step["tasks"] * abs(step["share"] - step["claimed"]) for step in steps)
    return {
        "tasks": tasks,
        "right": sum(step["right"] for step in steps),
        "steps": steps,
        "error": distance / tasks if tasks else None,
    }


def _step(nth: int, pairs: list[tuple[float, bool]]) -> CalibrationStep:
    right, tasks = sum(right for _, right in pairs), len(pairs)
    low, high = share_interval(right, tasks)
    return {
        "minimum": STEPS[nth],
        "below": STEPS[nth + 1] if nth + 1 < len(STEPS) else None,
        "tasks": tasks,
        "right": right,
        "claimed": sum(confidence for confidence, _ in pairs) / tasks,
        "share": right / tasks,
        "low": low,
        "high": high,
    }
