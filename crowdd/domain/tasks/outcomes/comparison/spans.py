"""Marked parts: the characters that at least half of the people mark with the same label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crowdd.domain.tasks.outcomes.comparison import marks
from crowdd.domain.tasks.outcomes.comparison.compared import Answer, Compared, agreement, mean, short
from crowdd.domain.tasks.outcomes.geometry import Span, joined, span_f1, span_iou
from crowdd.kinds.answers import AnswerField
from crowdd.values import Values


def read(value: Sequence[Values]) -> list[Span]:
    """The parts of an answer, joined."""
    return joined((float(one["start"]), float(one["end"]), marks.label_of(one)) for one in value)


def distance(one: Sequence[Span], other: Sequence[Span]) -> float:
    """1 - F1 in characters."""
    return 1 - span_f1(one, other)


def compare(field: AnswerField, values: Sequence[Answer]) -> Compared:
    """What marked parts say together."""
    answers = [read(value) for value in values]
    if not answers:
        return Compared(0)
    spans = joined(_shared(answers))
    return Compared(
        n=len(answers),
        won=True,
        value=[marks.labelled({"start": short(start), "end": short(end)}, label) for start, end, label in spans],
        agreement=agreement(answers, distance),
        confidence=mean(span_iou(answer, spans) for answer in answers),
    )


def _shared(answers: Sequence[list[Span]]) -> Iterator[Span]:
    """What at least half of the answers have, in pieces."""
    edges = [
        (label, at, step) for answer in answers for start, end, label in answer for at, step in ((start, 1), (end, -1))
    ]
    edges.sort()
    n, before = 0, ("", 0.0)
    for label, at, step in edges:
        if 2 * n >= len(answers) and n and before[0] == label:
            yield before[1], at, label
        n, before = n + step, (label, at)
