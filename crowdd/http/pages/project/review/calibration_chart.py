"""The drawing of a calibration: what results claim against what was measured, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from crowdd.domain.tasks.review.calibration import CalibrationStep

WIDTH, HEIGHT = 400, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 392, 10, 266
_LOWEST = 0.4  # where the axes begin, unless something lies below


class CalibrationPoint(TypedDict):
    """A step: where it is drawn, from where to where its interval goes, and how large the dot is."""

    x: float
    y: float
    low: float
    high: float
    radius: float
    step: CalibrationStep


class CalibrationChart(TypedDict):
    """``marks`` are shares with their places on the axes; ``line`` is where claim and measurement agree."""

    points: list[CalibrationPoint]
    marks: list[tuple[float, float, float]]
    line: tuple[float, float, float, float]


def chart(steps: Sequence[CalibrationStep]) -> CalibrationChart:
    """The chart of steps with tasks in them."""
    minimum = min([_LOWEST, *(step["low"] for step in steps), *(step["claimed"] for step in steps)])
    lowest = max(0.0, int(minimum * 10) / 10)

    def x(share: float) -> float:
        return round(_LEFT + (share - lowest) / (1 - lowest) * (_RIGHT - _LEFT), 1)

    def y(share: float) -> float:
        return round(_BOTTOM - (share - lowest) / (1 - lowest) * (_BOTTOM - _TOP), 1)

    maximum = max(step["tasks"] for step in steps)
    marks = [lowest + n * (1 - lowest) / 4 for n in range(5)]
    return {
        "points": [
            {
                "x": x(step["claimed"]),
                "y": y(step["share"]),
                "low": y(step["low"]),
                "high": y(step["high"]),
                "radius": round(3 + 5 * (step["tasks"] / maximum) ** 0.5, 1),
                "step": step,
            }
            for step in steps
        ],
        "marks": [(mark, x(mark), y(mark)) for mark in marks],
        "line": (x(lowest), y(lowest), x(1), y(1)),
    }
