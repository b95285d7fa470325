"""What the answers to one task say at each field, and what they add to alpha of their project. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from crowdd.domain.tasks.outcomes.comparison import alpha_sums, boxes, points, polygons, spans, texts
from crowdd.domain.tasks.outcomes.comparison.compared import Answer, Compared
from crowdd.kinds.answers import AnswerField, fits
from crowdd.values import Values

COMPARED: Final[Mapping[str, Callable[[AnswerField, Sequence[Answer]], Compared]]] = {
    "text": texts.compare,
    "boxes": boxes.compare,
    "points": points.compare,
    "polygon": polygons.compare,
    "spans": spans.compare,
}
"""Types that are compared after the commit."""


def compare(fields: Sequence[Values], answers: Sequence[Sequence[Sequence[Answer]]], first: int | None) -> Values:
    """``said`` and ``alpha``, as ``store_comparisons`` takes them. See ``DueComparison``."""
    read = [read_field(field) for field in fields]
    values = [fitting(field, [answer[nth] for answer in answers]) for nth, field in enumerate(read)]
    said = [
        COMPARED[field.type](field, found).as_json if field.type in COMPARED else None
        for field, found in zip(read, values, strict=True)
    ]
    early = (
        values
        if first is None
        else [fitting(field, [answer[nth] for answer in answers[:first]]) for nth, field in enumerate(read)]
    )
    sums = [alpha_sums.of_values(field, found) for field, found in zip(read, early, strict=True)]
    return {"said": said, "alpha": sums}


def is_slow(fields: Sequence[Values]) -> bool:
    """Whether comparing them takes longer than the server may wait."""
    return any(field["type"] in COMPARED for field in fields)


def read_field(found: Values) -> AnswerField:
    """A field of ``project.answer_fields`` that reads values themselves."""
    choices = found.get("choices")
    return AnswerField(
        name="",
        path=(),
        type=found["type"],
        choices=None if choices is None else tuple(choices),
        min=found.get("min"),
        max=found.get("max"),
        tolerance=found.get("tolerance"),
    )


def fitting(field: AnswerField, found: Sequence[Sequence[Answer]]) -> list[Answer]:
    """The values of a field that fit, of ``[value]`` or ``[]`` for each answer."""
    return [value[0] for value in found if value and fits(field, value[0])]
