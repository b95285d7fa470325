"""Whether an answer to a gold task is right, where PostgreSQL cannot tell: marks, marked parts and near texts."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Final

from crowdd.domain.tasks.outcomes.comparison import boxes, points, polygons, spans, texts
from crowdd.domain.tasks.outcomes.comparison.compared import Answer
from crowdd.domain.tasks.outcomes.geometry import best_pairs, box_iou, f1
from crowdd.values import Json, Values

_THRESHOLD: Final = 0.5
_MIN_IOU: Final = 0.5
_NEAR: Final = 0.02  # of the diagonal of what is marked
Alike = Callable[[Answer, Answer, Values], float]


def is_right(rule: Values, answers: list[Json], value: Json) -> bool:
    """Whether a value agrees with one of the answers by the rule. A value of another form is wrong."""
    return any(_agrees(rule, answer, value) for answer in answers)


def _agrees(rule: Values, answer: Json, value: Json) -> bool:
    try:
        if rule["type"] == "text":
            return _is_near(answer, value, rule)
        return _ALIKE[rule["type"]](answer, value, rule) >= rule.get("threshold", _THRESHOLD) - 1e-9
    except (KeyError, TypeError, ValueError, IndexError):
        return False


def _is_near(answer: Answer, value: Answer, rule: Values) -> bool:
    return texts.distance(texts.plain(answer), texts.plain(value)) <= rule.get("threshold", 0) + 1e-9


def _boxes(answer: Answer, value: Answer, rule: Values) -> float:
    one, other = boxes.read(answer), boxes.read(value)
    if not _could_agree(len(one), len(other), rule):
        return 0
    return f1(len(best_pairs(_overlapping(one, other))), len(one), len(other))


def _overlapping(one: boxes.Boxes, other: boxes.Boxes) -> dict[tuple[int, int], float]:
    """How far boxes of the same label overlap, by their places.

    An IoU of 0.5 have only those that begin less than its width beside a box. Others are not looked at.
    """
    order = sorted((box[0], j) for j, (box, _label) in enumerate(other))
    alike = {}
    for i, (box, label) in enumerate(one):
        left, _top, right, _bottom = box
        for _left, j in order[bisect_left(order, (2 * left - right,)) : bisect_right(order, (right, len(other)))]:
            beside, named = other[j]
            if label == named and (iou := box_iou(box, beside)) >= _MIN_IOU:
                alike[i, j] = iou
    return alike


def _points(answer: Answer, value: Answer, rule: Values) -> float:
    one, other = points.read(answer), points.read(value)
    if not _could_agree(len(one), len(other), rule):
        return 0
    places = [place for place, _label in one]
    diagonal = math.hypot(max((x for x, _ in places), default=0), max((y for _, y in places), default=0))
    return 1 - points.distance(one, other, rule.get("tolerance", _NEAR * diagonal))


def _polygon(answer: Answer, value: Answer, rule: Values) -> float:
    return 1 - polygons.distance(polygons.read(answer), polygons.read(value))


def _spans(answer: Answer, value: Answer, rule: Values) -> float:
    return 1 - spans.distance(spans.read(answer), spans.read(value))


def _could_agree(n_one: int, n_other: int, rule: Values) -> bool:
    """Whether F1 could reach the threshold if all matched. Otherwise thousands of marks would be compared in vain."""
    return f1(min(n_one, n_other), n_one, n_other) >= rule.get("threshold", _THRESHOLD) - 1e-9


_ALIKE: Final[dict[str, Alike]] = {"boxes": _boxes, "points": _points, "polygon": _polygon, "spans": _spans}
