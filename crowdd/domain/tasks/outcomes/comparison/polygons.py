"""An area: what at least half of the people cover, on a raster, and its outline."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.domain.tasks.outcomes.comparison.compared import Answer, Compared, agreement, mean, short
from crowdd.domain.tasks.outcomes.comparison.outline import outline
from crowdd.domain.tasks.outcomes.geometry import Point, Raster, area_iou, covered_by_half, n_pixels, pixel_iou
from crowdd.kinds.answers import AnswerField

_MAX_ANSWERS = 255  # a pixel counts no further


def read(value: Sequence[Answer]) -> list[Point]:
    """The corners of the area of an answer."""
    corners = ((one["x"], one["y"]) if isinstance(one, dict) else one for one in value)
    return [(float(x), float(y)) for x, y in corners]


def distance(one: Sequence[Point], other: Sequence[Point]) -> float:
    """1 - IoU."""
    return 1 - area_iou(one, other)


def compare(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """What areas say together: nothing if no place is covered by half of them. The only answer is its own consensus."""
    if len(values) < 2:
        return Compared(1, True, values[0], 1.0, 1.0) if values else Compared(0)
    areas = [read(value) for value in values[:_MAX_ANSWERS]]
    raster = Raster(areas)
    drawn = [raster.drawn(area) for area in areas]
    by_half = covered_by_half(drawn)
    agreed = agreement(drawn, lambda one, other: 1 - pixel_iou(one, other))
    if not n_pixels(by_half):
        return Compared(len(values), agreement=agreed)
    as_objects = isinstance(values[0][0], dict)
    corners = [[*map(short, raster.place(column, row))] for column, row in outline(by_half)]
    return Compared(
        n=len(values),
        won=True,
        value=[{"x": x, "y": y} for x, y in corners] if as_objects else corners,
        agreement=agreed,
        confidence=mean(pixel_iou(each, by_half) for each in drawn),
    )
