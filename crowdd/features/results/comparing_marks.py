"""Compare marks on pictures: points, boxes and polygons.

Points and boxes count when at least half of the people have them: a point in the middle of theirs, each side of a box
in the middle of theirs. An area is what at least half of the people cover, on a raster, and its outline.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Final

from crowdd.features.results import comparing
from crowdd.features.results.comparing import Answer, Compared, agreement, mean, outline, short
from crowdd.features.results.geometry import (
    Box,
    Point,
    Raster,
    area_iou,
    best_pairs,
    box_iou,
    covered_by_half,
    f1,
    n_pixels,
    pixel_iou,
)
from crowdd.kernel.values import Values
from crowdd.kinds.answers import AnswerField

_SHARE: Final = 0.02  # of the diagonal
Points = list[tuple[Point, str]]


def read_points(value: Sequence[Values]) -> Points:
    """The points of an answer, with their labels."""
    return [((float(one["x"]), float(one["y"])), comparing.label_of_mark(one)) for one in value]


def measure_reach(field: AnswerField, answers: Iterable[Points]) -> float:
    """How far apart two points may be that mean the same: the tolerance, otherwise 2 % of the diagonal.

    Answers do not say how large the picture is. Its size is taken to be that of what they mark, from its first corner.
    """
    if field.tolerance is not None:
        return field.tolerance
    places = [place for answer in answers for place, _ in answer]
    return _SHARE * math.hypot(max((x for x, _ in places), default=0), max((y for _, y in places), default=0))


def point_distance(one: Points, other: Points, within: float) -> float:
    """The share of the points that have no partner of their label in the other answer."""
    return 1 - f1(len(best_pairs(_alike(one, other, within))), len(one), len(other))


def _alike(one: Points, other: Points, within: float) -> dict[tuple[int, int], float]:
    """All pairs within reach, nearer ones a little heavier."""
    order = sorted((place[0], j) for j, (place, _label) in enumerate(other))
    alike = {}
    for i, (place, label) in enumerate(one):
        first, last = place[0] - within, place[0] + within
        for _x, j in order[bisect_left(order, (first,)) : bisect_right(order, (last, len(other)))]:
            beside, named = other[j]
            if label == named and (apart := math.dist(place, beside)) <= within:
                alike[i, j] = 1 + 1e-6 * (1 - apart / (within or 1))
    return alike


def compare_points(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """What points say together. The only answer is its own consensus."""
    answers = [read_points(value) for value in values]
    if len(answers) < 2:
        return Compared(1, True, values[0], 1.0, 1.0) if answers else Compared(0)
    within = measure_reach(field, answers)
    made = comparing.list_marks(answers)
    near = comparing.find_near_marks(
        made, lambda at: at[0] + within, lambda one, other: math.dist(one, other) <= within
    )
    point_clusters = comparing.find_clusters(made, near, len(answers))
    return Compared(
        n=len(answers),
        won=True,
        value=[
            comparing.label_mark({"x": short(one.place[0]), "y": short(one.place[1])}, one.label)
            for one in point_clusters
        ],
        agreement=agreement(answers, lambda one, other: point_distance(one, other, within)),
        confidence=comparing.measure_confidence(point_clusters, list(map(len, answers))),
    )


_MIN_IOU: Final = 0.5
Boxes = list[tuple[Box, str]]


def read_boxes(value: Sequence[Values]) -> Boxes:
    """The boxes of an answer, with their labels."""
    return [(_box(one), comparing.label_of_mark(one)) for one in value]


def _box(one: Values) -> Box:
    (left, right), (top, bottom) = (
        sorted((float(one[at]), float(one[at]) + float(one[size]))) for at, size in (("x", "width"), ("y", "height"))
    )
    return left, top, right, bottom


def box_distance(one: Boxes, other: Boxes) -> float:
    """1 - the mean IoU of the boxes after matching; one without a partner of its label has 0."""
    weights = {
        (i, j): iou
        for i, (box, label) in enumerate(one)
        for j, (beside, named) in enumerate(other)
        if label == named and (iou := box_iou(box, beside)) > 0
    }
    pairs = best_pairs(weights)
    n = len(one) + len(other) - len(pairs)
    return 1 - sum(weights[pair] for pair in pairs) / n if n else 0.0


def compare_boxes(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """What boxes say together. The only answer is its own consensus."""
    answers = [read_boxes(value) for value in values]
    if len(answers) < 2:
        return Compared(1, True, values[0], 1.0, 1.0) if answers else Compared(0)
    made = comparing.list_marks(answers)
    near = comparing.find_near_marks(made, lambda box: box[2], lambda one, other: box_iou(one, other) >= _MIN_IOU)
    box_clusters = comparing.find_clusters(made, near, len(answers))
    return Compared(
        n=len(answers),
        won=True,
        value=[comparing.label_mark(_written(one.place), one.label) for one in box_clusters],
        agreement=agreement(answers, box_distance),
        confidence=comparing.measure_confidence(box_clusters, list(map(len, answers))),
    )


def _written(box: Box) -> dict[str, float]:
    left, top, right, bottom = box
    return {"x": short(left), "y": short(top), "width": short(right - left), "height": short(bottom - top)}


_MAX_ANSWERS = 255  # a pixel counts no further


def read_polygon(value: Sequence[Answer]) -> list[Point]:
    """The corners of the area of an answer."""
    corners = ((one["x"], one["y"]) if isinstance(one, dict) else one for one in value)
    return [(float(x), float(y)) for x, y in corners]


def polygon_distance(one: Sequence[Point], other: Sequence[Point]) -> float:
    """1 - IoU."""
    return 1 - area_iou(one, other)


def compare_polygons(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """What areas say together: nothing if no place is covered by half of them. The only answer is its own consensus."""
    if len(values) < 2:
        return Compared(1, True, values[0], 1.0, 1.0) if values else Compared(0)
    areas = [read_polygon(value) for value in values[:_MAX_ANSWERS]]
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
