"""Boxes: those that at least half of the people have drawn, each side in the middle of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from crowdd.domain.tasks.outcomes.comparison import marks
from crowdd.domain.tasks.outcomes.comparison.compared import Answer, Compared, agreement, short
from crowdd.domain.tasks.outcomes.geometry import Box, best_pairs, box_iou
from crowdd.kinds.answers import AnswerField
from crowdd.values import Values

_MIN_IOU: Final = 0.5
Boxes = list[tuple[Box, str]]


def read(value: Sequence[Values]) -> Boxes:
    """The boxes of an answer, with their labels."""
    return [(_box(one), marks.label_of(one)) for one in value]


def _box(one: Values) -> Box:
    (left, right), (top, bottom) = (
        sorted((float(one[at]), float(one[at]) + float(one[size]))) for at, size in (("x", "width"), ("y", "height"))
    )
    return left, top, right, bottom


def distance(one: Boxes, other: Boxes) -> float:
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


def compare(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """What boxes say together. The only answer is its own consensus."""
    answers = [read(value) for value in values]
    if len(answers) < 2:
        return Compared(1, True, values[0], 1.0, 1.0) if answers else Compared(0)
    made = marks.of_answers(answers)
    near = marks.near_ones(made, lambda box: box[2], lambda one, other: box_iou(one, other) >= _MIN_IOU)
    box_clusters = marks.clusters(made, near, len(answers))
    return Compared(
        n=len(answers),
        won=True,
        value=[marks.labelled(_written(one.place), one.label) for one in box_clusters],
        agreement=agreement(answers, distance),
        confidence=marks.confidence(box_clusters, list(map(len, answers))),
    )


def _written(box: Box) -> dict[str, float]:
    left, top, right, bottom = box
    return {"x": short(left), "y": short(top), "width": short(right - left), "height": short(bottom - top)}
