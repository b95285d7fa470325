"""What the answers to one task say at each field, and what they add to alpha of their project. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import comb
from typing import Final

import attrs

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
SINGLE: Final = frozenset({"text", "polygon"})
"""Those of them whose answers have one value."""


def compare(fields: Sequence[Values], answers: Sequence[Sequence[Sequence[Answer]]], first: int | None) -> Values:
    """``said`` and ``alpha``, as ``store_comparisons`` takes them. See ``DueComparison``."""
    read = [read_field(field) for field in fields]
    values = [fitting(field, [answer[nth] for answer in answers]) for nth, field in enumerate(read)]
    comparisons = [
        _with_unsaid(field, COMPARED[field.type](field, values[nth]), [answer[nth] for answer in answers]).as_json
        if field.type in COMPARED
        else None
        for nth, field in enumerate(read)
    ]
    early = (
        values
        if first is None
        else [fitting(field, [answer[nth] for answer in answers[:first]]) for nth, field in enumerate(read)]
    )
    sums = [alpha_sums.of_values(field, field_values) for field, field_values in zip(read, early, strict=True)]
    return {"said": comparisons, "alpha": sums}


def _with_unsaid(field: AnswerField, valued: Compared, said: Sequence[Sequence[Answer]]) -> Compared:
    """What values say, with the answers that say "nothing there" (``[]``) or "can't tell" (null) in their place.

    The rule of ``with_unsaid`` in SQL (28_answer_fields.sql). Of marks, nothing is a value.
    """
    nothing = said.count([[]]) if field.type in SINGLE else 0
    unsure, n = said.count([None]), valued.n + nothing
    if not nothing and unsure <= n:
        return valued
    pairs = (valued.agreement or 0) * comb(valued.n, 2) + comb(nothing, 2)
    if unsure > n:
        n, pairs = n + unsure, pairs + comb(unsure, 2)
        valued = Compared(n, True, None, confidence=unsure / n)
    elif nothing > valued.n:
        valued = Compared(n, True, [], confidence=nothing / n)
    elif nothing == valued.n:
        valued = Compared(n)
    else:
        share = None if valued.confidence is None else valued.confidence * valued.n / n
        valued = attrs.evolve(valued, n=n, confidence=share)
    return attrs.evolve(valued, agreement=pairs / comb(n, 2) if n > 1 else 1.0)


def is_slow(fields: Sequence[Values]) -> bool:
    """Whether comparing them takes longer than the server may wait."""
    return any(field["type"] in COMPARED for field in fields)


def read_field(declaration: Values) -> AnswerField:
    """A field of ``project.answer_fields`` that reads values themselves."""
    choices = declaration.get("choices")
    return AnswerField(
        name="",
        path=(),
        type=declaration["type"],
        choices=None if choices is None else tuple(choices),
        min=declaration.get("min"),
        max=declaration.get("max"),
        tolerance=declaration.get("tolerance"),
    )


def fitting(field: AnswerField, values: Sequence[Sequence[Answer]]) -> list[Answer]:
    """The values of a field that fit, of ``[value]`` or ``[]`` for each answer."""
    return [value[0] for value in values if value and fits(field, value[0])]
