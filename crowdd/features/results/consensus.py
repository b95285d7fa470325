"""The consensus on each declared answer field, of a task and of a project, and intervals for shares.

The intervals are those of the beta distribution.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, TypedDict

from crowdd.features.results.rows import ResultSummary, Said
from crowdd.kernel.values import Values
from crowdd.kinds.answers import AnswerField


class FieldConsensus(TypedDict):
    """A field with what the answers to a task say there.

    ``won``: they have a consensus; ``short``: its ``value`` is kept. ``answers`` were compared; with fewer than two of
    them ``agreement`` is None. ``confidence`` and ``model`` are those of ``Said``. ``pending``: they are still to be
    compared; ``failed``: that did not succeed so far. ``opinion``: they are counted and not compared.
    """

    name: str
    type: str
    opinion: bool
    value: object
    won: bool
    short: bool
    answers: int
    agreement: float | None
    confidence: float | None
    model: float | None
    pending: bool
    failed: bool


class FieldSummary(ResultSummary):
    """A field with what the last results of a project say there together; of opinions nothing but counts."""

    name: str
    type: str
    opinion: bool


def by_field(fields: Sequence[AnswerField], comparison: Said) -> list[FieldConsensus]:
    """Of one task, in the order of the fields."""
    first: Values = {"value": comparison["consensus"]} if comparison["short"] else {}
    first |= {"hash": 0 if comparison["won"] else None, "answers": comparison["n_compared"]}
    first |= {name: comparison[name] for name in ("agreement", "confidence", "model")}
    outcomes = [None if comparison["n_compared"] is None else first, *(comparison["further"] or [])]
    return [_consensus(field, one, comparison["failed"]) for field, one in zip(fields, outcomes, strict=False)]


_PENDING: Final[Values] = {"hash": None, "answers": 0, "agreement": None, "confidence": None}


def _consensus(field: AnswerField, known: Values | None, failed: bool) -> FieldConsensus:
    one = _PENDING if known is None else known
    return {
        "name": field.name,
        "type": field.type,
        "opinion": field.opinion,
        "value": one.get("value"),
        "won": one["hash"] is not None,
        "short": "value" in one,
        "answers": one["answers"],
        "agreement": one["agreement"] if one["answers"] > 1 else None,
        "confidence": one["confidence"],
        "model": one.get("model"),
        "pending": known is None,
        "failed": known is None and failed,
    }


def summaries_by_field(fields: Sequence[AnswerField], summaries: Sequence[ResultSummary]) -> list[FieldSummary]:
    """The summaries of a project with the names of its fields; [] if it declares none."""
    return [
        {
            **one,
            "tied": one["tied"] * (not field.opinion),
            "name": field.name,
            "type": field.type,
            "opinion": field.opinion,
        }
        for field, one in zip(fields, summaries, strict=False)
    ]


_LEVEL = 0.95
_Z = 1.959963984540054  # of the normal distribution, for 95 %
_TINY = 1e-300


def share_interval(right: float, seen: float) -> tuple[float, float]:
    """The central 95 % interval of a share, by ``right`` of ``seen``. Before, every share is as likely.

    The counts need not be whole: they are halved from time to time.
    """
    a, b = right + 1, max(seen - right, 0) + 1
    return _quantile((1 - _LEVEL) / 2, a, b), _quantile((1 + _LEVEL) / 2, a, b)


def wilson_interval(right: int, seen: int) -> tuple[float, float]:
    """The 95 % interval of a share by Wilson (1927), by ``right`` of ``seen``, at least one."""
    middle, half = right + _Z * _Z / 2, _Z * math.sqrt(right * (seen - right) / seen + _Z * _Z / 4)
    return (middle - half) / (seen + _Z * _Z), (middle + half) / (seen + _Z * _Z)


def _quantile(share: float, a: float, b: float) -> float:
    """The x below which this share of the beta distribution lies, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle, a, b) < share else (low, middle)
    return (low + high) / 2


def below(x: float, a: float, b: float) -> float:
    """How much of the beta distribution lies below x: the regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side only
        return 1 - below(1 - x, b, a)
    leading = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x) - math.log(a)
    )
    return leading / _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by the method of Lentz."""
    value, up, down = 1.0, 1.0, 0.0
    for n in range(1, 300):
        m = n // 2
        if n % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        down = 1 / (1 + term * down or _TINY)
        up = 1 + term / up or _TINY
        value *= up * down
        if abs(up * down - 1) < 1e-12:
            break
    return value
