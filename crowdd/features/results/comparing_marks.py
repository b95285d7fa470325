"""Compare marks on pictures: points, boxes and polygons.

Points and boxes count when at least half of the people have them, and two: a point in the middle of theirs, each side
of a box in the middle of theirs. An area is what more than half of the people cover, on a raster, and its outline.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

from crowdd.features.results import comparing
from crowdd.features.results.comparing import Answer, Compared, agreement, mean, outline, short
from crowdd.features.results.geometry import (
    Box,
    Point,
    Raster,
    area_iou,
    best_pairs,
    box_iou,
    covered_by,
    f1,
    pixel_iou,
)
from crowdd.kernel.values import Values
from crowdd.kinds.answers import AnswerField

P = TypeVar("P", bound=tuple[float, ...])
_JUST: Final = 1e-9  # how alike points are that are just within reach
Points = list[tuple[Point, str]]


def read_points(value: Sequence[Values]) -> Points:
    """The points of an answer, with their labels."""
    return [((float(one["x"]), float(one["y"])), comparing.label_of_mark(one)) for one in value]


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
    within = comparing.measure_reach(field, values)

    def alike(one: Point, other: Point) -> float:
        apart = math.dist(one, other)
        return 1 - apart / within + _JUST if within and apart <= within else float(one == other)

    return _compare_marks(
        answers,
        partial(point_distance, within=within),
        lambda at: at[0] + within,
        alike,
        lambda at: {"x": short(at[0]), "y": short(at[1])},
    )


def _compare_marks(
    answers: Sequence[list[tuple[P, str]]],
    distance: Callable[[list[tuple[P, str]], list[tuple[P, str]]], float],
    reach: Callable[[P], float],
    alike: Callable[[P, P], float],
    written: Callable[[P], Values],
) -> Compared:
    made = comparing.list_marks(answers)
    distances = comparing.pair_distances(answers, distance)
    people = comparing.nearest_first(answers, distances)
    clusters = comparing.find_clusters(made, comparing.find_near_marks(made, reach, alike), people)
    return Compared(
        n=len(answers),
        won=True,
        value=[comparing.label_mark(written(one.place), one.label) for one in clusters],
        agreement=1 - mean(distances.values(), 0.0),
        confidence=comparing.measure_confidence(clusters, list(map(len, answers))),
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
    weights = _overlapping(one, other)
    pairs = best_pairs(weights)
    n = len(one) + len(other) - len(pairs)
    return 1 - sum(weights[pair] for pair in pairs) / n if n else 0.0


def _overlapping(one: Boxes, other: Boxes) -> dict[tuple[int, int], float]:
    """The IoU of boxes of the same label, where it is not 0. Only boxes that begin near each other are looked at."""
    order = sorted((box[0], j) for j, (box, _) in enumerate(other))
    widest = max((box[2] - box[0] for box, _ in other), default=0.0)
    overlapping = {}
    for i, (box, label) in enumerate(one):
        first, last = bisect_left(order, (box[0] - widest,)), bisect_right(order, (box[2], len(other)))
        for _left, j in order[first:last]:
            beside, named = other[j]
            if beside[1] <= box[3] and box[1] <= beside[3] and label == named and (iou := box_iou(box, beside)) > 0:
                overlapping[i, j] = iou
    return overlapping


def compare_boxes(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """What boxes say together. The only answer is its own consensus."""
    answers = [read_boxes(value) for value in values]
    if len(answers) < 2:
        return Compared(1, True, values[0], 1.0, 1.0) if answers else Compared(0)

    def alike(one: Box, other: Box) -> float:
        if one[3] < other[1] or other[3] < one[1]:
            return 0.0
        iou = box_iou(one, other)
        return iou if iou >= _MIN_IOU else 0.0

    # Of a box that has half of its area in common with another one, that one begins in its left half.
    return _compare_marks(answers, box_distance, lambda box: (box[0] + box[2]) / 2, alike, _written)


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
    """What areas say together. The only answer is its own consensus.

    Nothing if no place is covered by more than half of the people, or if no more than half of them have drawn what is
    (an IoU of 0.5 with it): areas that differ are a dispute.
    """
    if len(values) < 2:
        return Compared(1, True, values[0], 1.0, 1.0) if values else Compared(0)
    areas = [read_polygon(value) for value in values[:_MAX_ANSWERS]]
    raster = Raster(areas)
    drawn = [raster.drawn(area) for area in areas]
    together = covered_by(drawn, len(drawn) // 2 + 1)
    agreed = agreement(drawn, lambda one, other: 1 - pixel_iou(one, other))
    shares = [pixel_iou(each, together) for each in drawn]
    if not together.bits or 2 * sum(share >= _MIN_IOU for share in shares) <= len(drawn):
        return Compared(len(values), agreement=agreed)
    as_objects = isinstance(values[0][0], dict)
    corners = [[*map(short, raster.place(column, row))] for column, row in outline(together.image)]
    return Compared(
        n=len(values),
        won=True,
        value=[{"x": x, "y": y} for x, y in corners] if as_objects else corners,
        agreement=agreed,
        confidence=mean(shares),
    )
