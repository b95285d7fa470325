"""How far volunteers agree in a project, beyond chance: Krippendorff's alpha of each answer field."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from typing import Final, TypedDict

import attrs

from crowdd.database.access import Database
from crowdd.features.results import alpha_sums, outcome_statements
from crowdd.features.results.outcome_statements import Drawn, Expected
from crowdd.kinds.answers import AnswerField

RELIABLE: Final = 0.8
TENTATIVE: Final = 0.667
MIN_TASKS: Final = 10
"""With fewer tasks alpha has no interval, and is not interpreted."""
_Z: Final = 1.959963984540054
_DRAWN_TASKS: Final = 300
_GROWTH: Final = Decimal("1.1")  # of the answers, after which the expected disagreement is measured again

Sums = Mapping[str, Decimal]


class Alpha(TypedDict):
    """Krippendorff's ``alpha`` of a field: 1 for perfect agreement, 0 for chance. ``tasks`` have two answers or more.

    None without such tasks, where all answers are the same (chance cannot be told from agreement), and where chance is
    still to be measured (``pending``). ``failure``: why it could not be. ``low`` and ``high``: ``interval_of``.
    """

    name: str
    type: str
    alpha: float | None
    low: float | None
    high: float | None
    tasks: int
    answers: int
    pending: bool
    failure: str | None


def alpha_of(field: AnswerField, sums: Sums, expected: float | None) -> float | None:
    """1 - observed / expected disagreement. ``expected`` matters only where it does not follow from the sums."""
    n = sums.get("values", Decimal(0))
    if n < 2:
        return None
    with localcontext(alpha_sums.EXACT):
        chance = _chance(field, sums, n, expected)
        return float(1 - sums.get("observed", Decimal(0)) / n / chance) if chance else None


def interval_of(field: AnswerField, sums: Sums, expected: float | None) -> tuple[float, float] | tuple[None, None]:
    """Where alpha lies in 95 of 100 cases with other tasks: by the standard error of what tasks add to disagreement.

    Chance and the number of answers are taken as known. None with fewer tasks than MIN_TASKS, where all agree, and
    where some were compared by an earlier version.
    """
    tasks, n = sums.get("tasks", Decimal(0)), sums.get("values", Decimal(0))
    if tasks < MIN_TASKS or sums.get("spread_tasks") != tasks or not sums.get("observed"):
        return None, None
    with localcontext(alpha_sums.EXACT):
        chance, observed = _chance(field, sums, n, expected), sums["observed"]
        if not chance:
            return None, None
        variance = (sums["spread"] - observed**2 / tasks) * tasks / (tasks - 1) / n**2
        return around(float(1 - observed / n / chance), float(variance), float(chance))


def around(alpha: float, variance: float, chance: float) -> tuple[float, float]:
    """The interval of alpha, by the ``variance`` of the observed disagreement and the disagreement by ``chance``."""
    half = _Z * math.sqrt(max(0.0, variance)) / chance
    return alpha - half, min(1.0, alpha + half)


def _chance(field: AnswerField, sums: Sums, n: Decimal, expected: float | None) -> Decimal:
    """The mean distance of two answers, whatever their tasks are; 0: it is not known."""
    if alpha_sums.is_exact(field):
        return _by_sums(field, sums) / (n * (n - 1))
    return Decimal(0 if expected is None else expected)


def _by_sums(field: AnswerField, sums: Sums) -> Decimal:
    """The distance of all ordered pairs of answers, whatever their tasks are."""
    n = sums["values"]
    if field.type == "number":
        return 2 * n * sums.get("squares", Decimal(0)) - 2 * sums.get("sum", Decimal(0)) ** 2
    return n * n - sum(amount * amount for part, amount in sums.items() if part.startswith(alpha_sums.CLASS))


async def of_project(db: Database, project_id: int, fields: Sequence[AnswerField]) -> list[Alpha]:
    """Of each declared field, in their order."""
    amounts: dict[int, dict[str, Decimal]] = {}
    for row in await outcome_statements.list_alpha_sums(db, project_id):
        amounts.setdefault(row["field"], {})[row["part"]] = row["amount"]
    measured = await _measured(db, project_id) if amounts else {}
    return [_alpha(field, amounts.get(nth, {}), measured.get(nth)) for nth, field in enumerate(fields, 1)]


async def _measured(db: Database, project_id: int) -> dict[int, Expected]:
    return {row["field"]: row for row in await outcome_statements.list_expected_disagreements(db, project_id)}


def _alpha(field: AnswerField, sums: Sums, measured: Expected | None) -> Alpha:
    tasks, answers = (int(sums.get(part, 0)) for part in ("tasks", "values"))
    failure = measured["failure"] if measured else None
    unmeasured = not (measured and measured["answers"]) and not alpha_sums.is_exact(field)
    expected = measured["expected"] if measured else None
    low, high = interval_of(field, sums, expected)
    return Alpha(
        name=field.name,
        type=field.type,
        alpha=alpha_of(field, sums, expected),
        low=low,
        high=high,
        tasks=tasks,
        answers=answers,
        pending=tasks > 0 and unmeasured and failure is None,
        failure=failure if unmeasured else None,
    )


# ------------------------------------------------------------------------------------------------------------ measuring


@attrs.frozen
class DueField:
    """A field whose expected disagreement has to be measured; ``tries``: how often that has failed."""

    answers: Decimal
    tries: int


async def due(db: Database, project_id: int) -> dict[int, DueField]:
    """Those of a project, by their numbers."""
    answers = {
        row["field"]: row["amount"]
        for row in await outcome_statements.list_alpha_sums(db, project_id)
        if row["part"] == "values"
    }
    before = await _measured(db, project_id) if answers else {}
    return {
        nth: DueField(n, before[nth]["tries"] if nth in before else 0)
        for nth, n in answers.items()
        if nth not in before or _is_due(before[nth], n)
    }


def _is_due(before: Expected, answers: Decimal) -> bool:
    """Whether it failed and is to be tried again, or answers have become a tenth more or fewer."""
    if before["failure"] is not None:
        return not before["waits"]
    return not before["answers"] / _GROWTH < answers < before["answers"] * _GROWTH


async def sample(db: Database, project_id: int) -> Drawn:
    """Answers that the expected disagreement is measured with."""
    return await outcome_statements.sample_answers(db, project_id, _DRAWN_TASKS)
