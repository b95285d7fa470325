"""Compare areas, lines and places, several of each in an answer.

As with boxes, a mark counts when at least half of the people have it, and two, found person by person. An area is what
more than half of them cover, a line runs in the middle of theirs, a place is in the middle of theirs. How far apart
marks may be that mean the same is said in pixels of a picture, and in metres on a map.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Final

import attrs

from crowdd.features.results import comparing
from crowdd.features.results.comparing import Answer, Compared, Mark, mean, outline, short
from crowdd.features.results.geometry import Point, Raster, are_apart, area_iou, best_pairs, covered_by, f1
from crowdd.kernel.values import Values
from crowdd.kinds.answers import AnswerField

Shape = tuple[float, ...]
"""The leftmost place of a mark, by which neighbours are found, and its coordinates, x and y by turns."""
Shapes = list[tuple[Shape, str]]
_JUST: Final = 1e-9  # how alike marks are that are just within reach
_MIN_IOU: Final = 0.5


@attrs.frozen
class Kind:
    """How marks of a kind are compared: how alike two are (0: not at all), how far right of one the next may begin."""

    alike: Callable[[Shape, Shape], float]
    reach: Callable[[Shape], float]
    middle: Callable[[Sequence[Shape]], Shape]


def distance_of(kind: Kind, one: Shapes, other: Shapes, *, counted: bool) -> float:
    """1 - the mean likeness after matching; ``counted``: 1 - the share of marks with a partner of their label."""
    marks = [Mark(0, *each) for each in one] + [Mark(1, *each) for each in other]
    near = comparing.find_near_marks(marks, kind.reach, kind.alike)
    weights = {
        (i, j - len(one)): alike
        for i in range(len(one))
        for j, alike in near[i].items()
        if marks[i].label == marks[j].label
    }
    pairs = best_pairs(weights)
    if counted:
        return 1 - f1(len(pairs), len(one), len(other))
    n = len(one) + len(other) - len(pairs)
    return 1 - sum(weights[pair] for pair in pairs) / n if n else 0.0


def _compare(
    kind: Kind,
    values: Sequence[Answer],
    answers: Sequence[Shapes],
    written: Callable[[Shape], Values],
    *,
    counted: bool,
) -> Compared:
    if len(answers) < 2:
        return Compared(1, True, values[0], 1.0, 1.0) if answers else Compared(0)
    distances = comparing.pair_distances(answers, partial(distance_of, kind, counted=counted))
    people = comparing.nearest_first(answers, distances)
    made = comparing.list_marks(answers)
    clusters = comparing.find_clusters(
        made, comparing.find_near_marks(made, kind.reach, kind.alike), people, kind.middle
    )
    disputed = not clusters and 2 * sum(not answer for answer in answers) < len(answers)  # most marked, each elsewhere
    return Compared(
        n=len(answers),
        won=not disputed,
        value=None if disputed else [comparing.label_mark(written(one.place), one.label) for one in clusters],
        agreement=1 - mean(distances.values(), 0.0),
        confidence=comparing.measure_confidence(clusters, list(map(len, answers))),
    )


def _shape(points: Sequence[Sequence[float]]) -> Shape:
    return (min(float(x) for x, *_ in points), *(float(each) for x, y, *_ in points for each in (x, y)))


def _points(shape: Shape) -> list[Point]:
    return [*zip(shape[1::2], shape[2::2], strict=True)]


# ---------------------------------------------------------------------------------------------------------------- areas


def read_areas(value: Sequence[Values]) -> Shapes:
    """The areas of an answer, with their labels: ``points``, or a polygon of GeoJSON."""
    outlines = (one["geometry"]["coordinates"][0] if "geometry" in one else one["points"] for one in value)
    return [(_shape(each), comparing.label_of_mark(one)) for each, one in zip(outlines, value, strict=True)]


def _overlap(one: Shape, other: Shape) -> float:
    corners, others = _points(one), _points(other)
    if corners == others:
        return 1.0
    iou = 0.0 if are_apart(corners, others) else area_iou(corners, others)
    return iou if iou >= _MIN_IOU else 0.0


def _covered(shapes: Sequence[Shape]) -> Shape:
    areas = [_points(shape) for shape in shapes[:255]]
    raster = Raster(areas)
    together = covered_by([raster.drawn(area) for area in areas], len(areas) // 2 + 1)
    return _shape([raster.place(column, row) for column, row in outline(together.image)] if together.bits else areas[0])


AREAS: Final = Kind(_overlap, lambda shape: max(shape[1::2]), _covered)


def area_distance(one: Shapes, other: Shapes) -> float:
    """1 - the mean IoU of the areas after matching; one without a partner of its label and half of its area has 0."""
    return distance_of(AREAS, one, other, counted=False)


def compare_areas(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """What areas say together. The only answer is its own consensus."""
    geographic = any("geometry" in one for value in values for one in value)

    def written(shape: Shape) -> Values:
        corners = [[short(x), short(y)] for x, y in _points(shape)]
        if not geographic:
            return {"points": corners}
        return {"geometry": {"type": "Polygon", "coordinates": [[*corners, corners[0]]]}}

    return _compare(AREAS, values, [read_areas(value) for value in values], written, counted=False)


# ---------------------------------------------------------------------------------------------------------------- lines

_ALONG: Final = 32  # points at which lines are compared


def read_lines(value: Sequence[Values]) -> Shapes:
    """The lines of an answer, each at so many points, evenly along it."""
    return [(_shape(evenly(one["points"])), comparing.label_of_mark(one)) for one in value]


def evenly(points: Sequence[Sequence[float]]) -> list[Point]:
    """A line at ``_ALONG`` points that are equally far from each other along it."""
    corners = [(float(x), float(y)) for x, y in points]
    lengths = [math.dist(one, other) for one, other in pairwise(corners)]
    step, places, nth, behind = sum(lengths) / (_ALONG - 1), list[Point](), 0, 0.0
    for number in range(_ALONG):
        at = number * step
        while nth < len(lengths) - 1 and behind + lengths[nth] < at:
            behind, nth = behind + lengths[nth], nth + 1
        share = min(1.0, (at - behind) / lengths[nth]) if lengths[nth] else 0.0
        (x, y), (to_x, to_y) = corners[nth], corners[nth + 1]
        places.append((x + share * (to_x - x), y + share * (to_y - y)))
    return places


def lines_of(within: float) -> Kind:
    """How lines are compared: by the mean distance of their points, whichever end they begin at."""

    def alike(one: Shape, other: Shape) -> float:
        apart = min(_apart(_points(one), _points(other)), _apart(_points(one), _points(other)[::-1]))
        return 1 - apart / within + _JUST if within and apart <= within else float(not apart)

    # The mean distance of 32 points is small only if the leftmost ones are no further apart than all of it together.
    return Kind(alike, lambda shape: shape[0] + within * _ALONG, _between)


def _apart(one: Sequence[Point], other: Sequence[Point]) -> float:
    return mean(map(math.dist, one, other))


def _between(shapes: Sequence[Shape]) -> Shape:
    """The median of each point, with all lines in the direction of the first one."""
    first, *others = map(_points, shapes)
    aligned = [first, *(min(each, each[::-1], key=partial(_apart, first)) for each in others)]
    return _shape([comparing.middle(at) for at in zip(*aligned, strict=True)])


def compare_lines(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """What lines say together. The only answer is its own consensus."""
    answers = [read_lines(value) for value in values]
    kind = lines_of(comparing.measure_reach(field, values))
    return _compare(
        kind, values, answers, lambda shape: {"points": [[short(x), short(y)] for x, y in _points(shape)]}, counted=True
    )


# --------------------------------------------------------------------------------------------------------------- places

NEAR_METRES: Final = 100.0
"""How far apart two places may be that mean the same, unless the field has a tolerance."""
_METRES: Final = 111_195.0  # of a degree of latitude


def read_places(value: Sequence[Values]) -> Shapes:
    """The places of an answer: the latitude is the first coordinate, of which a degree is as long everywhere."""
    places = (one["geometry"]["coordinates"] for one in value)
    return [
        ((float(y), float(y), float(x)), comparing.label_of_mark(one))
        for (x, y, *_), one in zip(places, value, strict=True)
    ]


def metres(one: Shape, other: Shape) -> float:
    """How far apart places are; exact enough for those that may mean the same."""
    beside = (one[2] - other[2] + 180) % 360 - 180
    return _METRES * math.hypot(one[1] - other[1], beside * math.cos(math.radians((one[1] + other[1]) / 2)))


def places_of(within: float) -> Kind:
    """How places are compared."""

    def alike(one: Shape, other: Shape) -> float:
        apart = metres(one, other)
        return 1 - apart / within + _JUST if within and apart <= within else float(not apart)

    return Kind(alike, lambda shape: shape[0] + within / _METRES, _amid)


def _amid(shapes: Sequence[Shape]) -> Shape:
    """The median, with all longitudes beside that of the first place."""
    _, latitude, longitude = comparing.middle(
        [(y, y, shapes[0][2] + (x - shapes[0][2] + 180) % 360 - 180) for _, y, x in shapes]
    )
    return latitude, latitude, (longitude + 180) % 360 - 180


def _metres(field: AnswerField) -> float:
    return NEAR_METRES if field.tolerance is None else field.tolerance


def compare_places(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """What places say together. The only answer is its own consensus."""
    answers = [read_places(value) for value in values]

    def written(shape: Shape) -> Values:
        return {"geometry": {"type": "Point", "coordinates": [round(shape[2], 6), round(shape[1], 6)]}}

    return _compare(places_of(_metres(field)), values, answers, written, counted=True)


def measure(
    field: AnswerField, values: Sequence[Answer]
) -> tuple[Callable[[Answer], Answer], Callable[[Answer, Answer], float]]:
    """How values of lines or places are read, and how far two are apart; ``values`` say how large pictures are."""
    read = read_places if field.type == "places" else read_lines
    kind = places_of(_metres(field)) if field.type == "places" else lines_of(comparing.measure_reach(field, values))
    return read, partial(distance_of, kind, counted=True)
