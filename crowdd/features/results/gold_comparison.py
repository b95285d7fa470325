"""Whether an answer to a gold task is right, where PostgreSQL cannot tell: marks, marked parts and near texts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Final

from crowdd.features.results import alpha_sums, comparing, comparing_marks, comparing_texts
from crowdd.features.results.comparing import Answer
from crowdd.features.results.geometry import best_pairs, box_iou, f1
from crowdd.kernel.values import Json, Values
from crowdd.kinds.answers import AnswerField

_THRESHOLD: Final = 0.5
_MIN_IOU: Final = 0.5
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
    return (
        comparing_texts.text_distance(comparing_texts.plain_text(answer), comparing_texts.plain_text(value))
        <= rule.get("threshold", 0) + 1e-9
    )


def _boxes(answer: Answer, value: Answer, rule: Values) -> float:
    one, other = comparing_marks.read_boxes(answer), comparing_marks.read_boxes(value)
    if not _could_agree(len(one), len(other), rule):
        return 0
    return f1(len(best_pairs(_overlapping(one, other))), len(one), len(other))


def _overlapping(one: comparing_marks.Boxes, other: comparing_marks.Boxes) -> dict[tuple[int, int], float]:
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
    one, other = comparing_marks.read_points(answer), comparing_marks.read_points(value)
    if not _could_agree(len(one), len(other), rule):
        return 0
    within = rule["tolerance"] if "tolerance" in rule else comparing.measure_near([answer])
    return 1 - comparing_marks.point_distance(one, other, within)


def _polygon(answer: Answer, value: Answer, rule: Values) -> float:
    return 1 - comparing_marks.polygon_distance(
        comparing_marks.read_polygon(answer), comparing_marks.read_polygon(value)
    )


def _spans(answer: Answer, value: Answer, rule: Values) -> float:
    return 1 - comparing_texts.span_distance(comparing_texts.read_spans(answer), comparing_texts.read_spans(value))


def _could_agree(n_one: int, n_other: int, rule: Values) -> bool:
    """Whether F1 could reach the threshold if all matched. Otherwise thousands of marks would be compared in vain."""
    return f1(min(n_one, n_other), n_one, n_other) >= rule.get("threshold", _THRESHOLD) - 1e-9


def _as_answers(type_: str) -> Alike:
    """As answers of this type are compared with each other."""

    def alike(answer: Answer, value: Answer, rule: Values) -> float:
        field = AnswerField(name="", path=(), type=type_, tolerance=rule.get("tolerance"))
        read, distance = alpha_sums.measure(field, [answer, value])
        return 1 - distance(read(answer), read(value))

    return alike


_ALIKE: Final[dict[str, Alike]] = {
    "boxes": _boxes,
    "points": _points,
    "polygon": _polygon,
    "spans": _spans,
    **{type_: _as_answers(type_) for type_ in ("transcript", "areas", "lines", "places", "ranking")},
}
COMPARED_BY_RULE: Final = frozenset({*_ALIKE, "text"})
"""The types of answer fields that ``is_right`` knows."""
