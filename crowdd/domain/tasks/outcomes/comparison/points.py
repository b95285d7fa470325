"""Points: those that at least half of the people have set, in the middle of theirs."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Final

from crowdd.domain.tasks.outcomes.comparison import marks
from crowdd.domain.tasks.outcomes.comparison.compared import Answer, Compared, agreement, short
from crowdd.domain.tasks.outcomes.geometry import Point, best_pairs, f1
from crowdd.kinds.answers import AnswerField
from crowdd.values import Values

_SHARE: Final = 0.02  # of the diagonal
Points = list[tuple[Point, str]]


def read(value: Sequence[Values]) -> Points:
    """The points of an answer, with their labels."""
    return [((float(one["x"]), float(one["y"])), marks.label_of(one)) for one in value]


def reach(field: AnswerField, answers: Iterable[Points]) -> float:
    """How far apart two points may be that mean the same: the tolerance, otherwise 2 % of the diagonal.

    Answers do not say how large the picture is. Its size is taken to be that of what they mark, from its first corner.
    """
    if field.tolerance is not None:
        return field.tolerance
    places = [place for answer in answers for place, _ in answer]
    return _SHARE * math.hypot(max((x for x, _ in places), default=0), max((y for _, y in places), default=0))


def distance(one: Points, other: Points, within: float) -> float:
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


def compare(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """What points say together. The only answer is its own consensus."""
    answers = [read(value) for value in values]
    if len(answers) < 2:
        return Compared(1, True, values[0], 1.0, 1.0) if answers else Compared(0)
    within = reach(field, answers)
    made = marks.of_answers(answers)
    near = marks.near_ones(made, lambda at: at[0] + within, lambda one, other: math.dist(one, other) <= within)
    point_clusters = marks.clusters(made, near, len(answers))
    return Compared(
        n=len(answers),
        won=True,
        value=[
            marks.labelled({"x": short(one.place[0]), "y": short(one.place[1])}, one.label) for one in point_clusters
        ],
        agreement=agreement(answers, lambda one, other: distance(one, other, within)),
        confidence=marks.confidence(point_clusters, list(map(len, answers))),
    )
