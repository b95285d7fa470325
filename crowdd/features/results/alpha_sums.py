"""What the answers to a task add to the sums of which Krippendorff's alpha is made (``outcome_statements``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal
from itertools import combinations
from typing import Final

from crowdd.features.results import (
    comparing,
    comparing_lines,
    comparing_marks,
    comparing_orders,
    comparing_shapes,
    comparing_texts,
)
from crowdd.features.results.comparing import MAX_PAIRED, Answer
from crowdd.kinds.answers import AnswerField
from crowdd.kinds.answers.fields import key

CLASS: Final = "class "
"""What the names of the sums of classes begin with; the number of the choice follows, from 1."""
EXACT: Final = Context(prec=100)
_UNIT: Final = Decimal("1e-20")
_MAX_NUMBER: Final = 1e15

_DISTANCES: Final[Mapping[str, tuple[Callable[[Answer], Answer], Callable[[Answer, Answer], float]]]] = {
    "label": (key, lambda one, other: float(one != other)),
    "labels": (comparing.read_labels, comparing.labels_distance),
    "text": (comparing_texts.plain_text, comparing_texts.text_distance),
    "boxes": (comparing_marks.read_boxes, comparing_marks.box_distance),
    "polygon": (comparing_marks.read_polygon, comparing_marks.polygon_distance),
    "spans": (comparing_texts.read_spans, comparing_texts.span_distance),
    "transcript": (comparing_lines.read_transcript, comparing_texts.text_distance),
    "areas": (comparing_shapes.read_areas, comparing_shapes.area_distance),
    "date": (str, comparing_orders.date_distance),
    "ranking": (comparing_orders.read_order, comparing_orders.order_distance),
}
"""How a value of a type is read, and how far two of them are apart."""


def is_exact(field: AnswerField) -> bool:
    """Whether the expected disagreement follows from sums. Otherwise it is measured by pairs drawn at random."""
    return field.type == "number" or (field.type == "label" and field.choices is not None)


def of_values(field: AnswerField, values: Sequence[Answer], distance: float | None = None) -> dict[str, str] | None:
    """The sums, as decimal numbers; None with fewer than two values, which agree with nothing.

    ``distance``: the mean distance of pairs of values, if it is known already.

    ``observed`` is the distance of all ordered pairs / (values - 1), ``values`` and ``tasks`` count. Of numbers also
    ``sum`` and ``squares``, of choices how often each occurs. Intervals are made of ``spread``, the square of
    ``observed``; ``spread_tasks`` counts the tasks that have it, unlike those of earlier versions.
    """
    if field.type == "number":
        values = [value for value in values if abs(value) <= _MAX_NUMBER]
    if len(values) < 2:
        return None
    own = _numbers(values) if field.type == "number" else _others(field, values, distance)
    own["spread"] = EXACT.power(own["observed"], 2)
    own["spread_tasks"] = Decimal(1)
    return {"tasks": "1", "values": str(len(values)), **{name: _written(amount) for name, amount in own.items()}}


def _written(amount: Decimal) -> str:
    rounded = amount.quantize(_UNIT, context=EXACT)
    return format(rounded.normalize(EXACT) if rounded else Decimal(0), "f")


def _numbers(values: Sequence[float]) -> dict[str, Decimal]:
    exact = [Decimal(repr(value)) for value in values]
    n, total, squares = Decimal(len(exact)), Decimal(0), Decimal(0)
    for each in exact:
        total, squares = EXACT.add(total, each), EXACT.add(squares, EXACT.multiply(each, each))
    pairs = EXACT.subtract(EXACT.multiply(n, squares), EXACT.multiply(total, total))
    observed = EXACT.divide(EXACT.multiply(Decimal(2), pairs), n - 1)
    return {"observed": observed, "sum": total, "squares": squares}


def _others(field: AnswerField, values: Sequence[Answer], distance: float | None) -> dict[str, Decimal]:
    n = len(values)
    if is_exact(field):
        numbers = {key(choice): nth for nth, choice in enumerate(field.choices or (), 1)}
        counts = Counter(numbers[key(value)] for value in values)
        equal = sum(count * count for count in counts.values())
        classes = {f"{CLASS}{nth}": Decimal(count) for nth, count in sorted(counts.items())}
        return {"observed": EXACT.divide(Decimal(n * n - equal), Decimal(n - 1)), **classes}
    if distance is None:
        distances = distances_of(field, values[:MAX_PAIRED])
        distance = sum(distances) / len(distances)
    return {"observed": Decimal(distance * n)}


def distances_of(field: AnswerField, values: Sequence[Answer]) -> list[float]:
    """How far the values of each pair are apart."""
    read, distance = measure(field, values)
    return [distance(one, other) for one, other in combinations(map(read, values), 2)]


def measure(
    field: AnswerField, values: Sequence[Answer]
) -> tuple[Callable[[Answer], Answer], Callable[[Answer, Answer], float]]:
    """How values of a field are read, and how far two of them are apart; ``values`` say how large pictures are."""
    if field.type == "points":
        within = comparing.measure_reach(field, values)
        return comparing_marks.read_points, lambda one, other: comparing_marks.point_distance(one, other, within)
    if field.type in ("lines", "places"):
        return comparing_shapes.measure(field, values)
    return _DISTANCES[field.type]
