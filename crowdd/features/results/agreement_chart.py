"""The drawing of coefficients of agreement with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from crowdd.features.results.rows import AgreementMeasure

_LEFT, _RIGHT, _ROW, _TOP = 150, 390, 30, 24


class MeasurePoint(TypedDict):
    """A coefficient: where it is drawn, and from where to where its interval goes."""

    x: float
    y: float
    low: float
    high: float
    measure: AgreementMeasure


class AgreementChart(TypedDict):
    """``marks`` are values with their places across; ``bottom`` is where the rows end."""

    points: list[MeasurePoint]
    marks: list[tuple[float, float]]
    bottom: int


def chart(measures: Sequence[AgreementMeasure]) -> AgreementChart:
    """Of those that are defined, one below the other; across from 0, or from the lowest value, to 1."""
    spans = [
        (one, one["value"], _or(one["low"], one["value"]), _or(one["high"], one["value"]))
        for one in measures
        if one["value"] is not None
    ]
    lowest = min([0.0, *(low for _one, _value, low, _high in spans)])
    lowest = int(lowest * 4 - 1) / 4 if lowest < 0 else 0.0

    def x(value: float) -> float:
        return round(_LEFT + (value - lowest) / (1 - lowest) * (_RIGHT - _LEFT), 1)

    return {
        "points": [
            {"x": x(value), "y": _TOP + _ROW * nth, "low": x(low), "high": x(high), "measure": one}
            for nth, (one, value, low, high) in enumerate(spans)
        ],
        "marks": [(mark, x(mark)) for mark in (lowest + n * (1 - lowest) / 4 for n in range(5))],
        "bottom": _TOP + _ROW * len(spans),
    }


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
