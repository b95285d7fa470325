"""What the counted answers to a task say at each declared answer field, and all tasks of a project together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypedDict

from crowdd.kinds.answers import AnswerField
from crowdd.storage.tasks.outcomes.rows import ResultSummary, Said
from crowdd.values import Values


class FieldConsensus(TypedDict):
    """A field with what the answers to a task say there.

    ``won``: they have a consensus; ``short``: its ``value`` is kept. ``answers`` were compared; with fewer than two of
    them ``agreement`` is None. ``pending``: they are still to be compared.
    """

    name: str
    type: str
    value: object
    won: bool
    short: bool
    answers: int
    agreement: float | None
    confidence: float | None
    pending: bool


class FieldSummary(ResultSummary):
    """A field with what the last results of a project say there together."""

    name: str
    type: str


def by_field(fields: Sequence[AnswerField], comparison: Said) -> list[FieldConsensus]:
    """Of one task, in the order of the fields."""
    first: Values = {"value": comparison["consensus"]} if comparison["short"] else {}
    first |= {"hash": 0 if comparison["won"] else None, "answers": comparison["n_compared"]}
    first |= {"agreement": comparison["agreement"], "confidence": comparison["confidence"]}
    outcomes = [None if comparison["n_compared"] is None else first, *(comparison["further"] or [])]
    return [_consensus(field, one) for field, one in zip(fields, outcomes, strict=False)]


_PENDING: Final[Values] = {"hash": None, "answers": 0, "agreement": None, "confidence": None}


def _consensus(field: AnswerField, known: Values | None) -> FieldConsensus:
    one = _PENDING if known is None else known
    return {
        "name": field.name,
        "type": field.type,
        "value": one.get("value"),
        "won": one["hash"] is not None,
        "short": "value" in one,
        "answers": one["answers"],
        "agreement": one["agreement"] if one["answers"] > 1 else None,
        "confidence": one["confidence"],
        "pending": known is None,
    }


def summaries_by_field(fields: Sequence[AnswerField], summaries: Sequence[ResultSummary]) -> list[FieldSummary]:
    """The summaries of a project with the names of its fields; [] if it declares none."""
    return [{**one, "name": field.name, "type": field.type} for field, one in zip(fields, summaries, strict=False)]
