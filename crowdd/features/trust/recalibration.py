"""How often a result is right that the model is so sure of: learned from results whose truth is known.

Two curves are fitted by likelihood: Platt's (1999; logistic, of the model's log-odds) and the isotonic one (Zadrozny,
Elkan 2002). The one whose predictions of left out results were better, in ten parts, is taken. Neither ever falls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import attrs

from crowdd.features.trust.rows import MIN_MEASURED, Recalibration

_FOLDS: Final = 10
_EDGE: Final = 1e-6  # nothing is taken to be surer
_STEPS: Final = 30
_RIDGE: Final = 0.02  # keeps the curve near the model's where little is known, as so many results would

Curve = Callable[[float], float]


@attrs.frozen
class Checked:
    """What the model said of a result, and whether that was right. Those of one ``task`` weigh one together."""

    value: float
    right: bool
    task: int
    weight: float = 1.0


def recalibrate(checked: Sequence[Checked]) -> Recalibration | None:
    """The better curve of both; None with fewer results than MIN_MEASURED."""
    tasks = sorted({one.task for one in checked})
    if len(tasks) < MIN_MEASURED:
        return None
    losses = {name: _left_out(checked, tasks, fit) for name, fit in _METHODS.items()}
    method = min(losses, key=lambda name: losses[name])
    curve = _METHODS[method](checked)
    values = _places(checked)
    return Recalibration(
        method=method,
        n=len(tasks),
        right=sum(one.weight for one in checked if one.right),
        values=values,
        shares=_rising([curve(value) for value in values]),
        loss=losses[method] / len(tasks),
        raw_loss=sum(_loss(one, one.value) for one in checked) / len(tasks),
    )


def measured(recalibration: Recalibration | None, value: float) -> float:
    """What is right of results of which the model says this; the value itself where nothing is measured."""
    if recalibration is None:
        return value
    values, shares = recalibration["values"], recalibration["shares"]
    if value <= values[0]:
        return shares[0]
    for nth in range(1, len(values)):
        if value <= values[nth]:
            part = (value - values[nth - 1]) / (values[nth] - values[nth - 1])
            return shares[nth - 1] + part * (shares[nth] - shares[nth - 1])
    return shares[-1]


def _left_out(checked: Sequence[Checked], tasks: Sequence[int], fit: Callable[[Sequence[Checked]], Curve]) -> float:
    """-ln of what curves say of results that they were not fitted to."""
    part = {task: nth % _FOLDS for nth, task in enumerate(tasks)}
    total = 0.0
    for fold in range(_FOLDS):
        curve = fit([one for one in checked if part[one.task] != fold])
        total += sum(_loss(one, curve(one.value)) for one in checked if part[one.task] == fold)
    return total


def _loss(one: Checked, share: float) -> float:
    share = min(max(share, _EDGE), 1 - _EDGE)
    return -one.weight * math.log(share if one.right else 1 - share)


def _log_odds(value: float) -> float:
    value = min(max(value, _EDGE), 1 - _EDGE)
    return math.log(value / (1 - value))


def _platt(checked: Sequence[Checked]) -> Curve:
    """Logistic regression on the log-odds, by Newton's method; a prior draws it a little towards the model's values."""
    total = sum(one.weight for one in checked)
    ridge = _RIDGE * total
    a, b = 0.0, 1.0
    for _ in range(_STEPS):
        gradient_a, gradient_b, aa, ab, bb = ridge * a, ridge * (b - 1), ridge, 0.0, ridge
        for one in checked:
            x = _log_odds(one.value)
            share = 1 / (1 + math.exp(-max(min(a + b * x, 30), -30)))
            off, spread = one.weight * (share - one.right), one.weight * share * (1 - share)
            gradient_a, gradient_b = gradient_a + off, gradient_b + off * x
            aa, ab, bb = aa + spread, ab + spread * x, bb + spread * x * x
        determinant = aa * bb - ab * ab
        step_a = (bb * gradient_a - ab * gradient_b) / determinant
        step_b = (aa * gradient_b - ab * gradient_a) / determinant
        scale = min(1.0, 2 / max(abs(step_a), abs(step_b), 1e-12))
        a, b = a - scale * step_a, b - scale * step_b
        if abs(step_a) + abs(step_b) < 1e-9:
            break
    b = max(b, 0.0)
    return lambda value: 1 / (1 + math.exp(-max(min(a + b * _log_odds(value), 30), -30)))


def _isotonic(checked: Sequence[Checked]) -> Curve:
    """The rising steps of the greatest likelihood (pool adjacent violators), each with one imagined result more."""
    share = sum(one.weight for one in checked if one.right) / sum(one.weight for one in checked)
    blocks: list[list[float]] = []  # right, weight, first and last value
    for one in sorted(checked, key=lambda each: each.value):
        blocks.append([one.weight * one.right, one.weight, one.value, one.value])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            right, weight, _first, last = blocks.pop()
            blocks[-1] = [blocks[-1][0] + right, blocks[-1][1] + weight, blocks[-1][2], last]
    levels = _rising(
        [(right + min(share, 1 - 1 / (2 * len(checked)))) / (weight + 1) for right, weight, _first, _last in blocks]
    )
    ends = [last for _right, _weight, _first, last in blocks]

    def curve(value: float) -> float:
        return next((level for level, end in zip(levels, ends, strict=True) if value <= end), levels[-1])

    return curve


_METHODS: Final[dict[str, Callable[[Sequence[Checked]], Curve]]] = {"platt": _platt, "isotonic": _isotonic}


def _places(checked: Sequence[Checked]) -> list[float]:
    """Values at which a curve is kept: closer together where nearly all are right."""
    values = {1 - 10 ** (-nth / 8) for nth in range(49)} | {nth / 50 for nth in range(50)} | {1.0}
    return sorted(round(value, 9) for value in values)


def _rising(shares: Sequence[float]) -> list[float]:
    levels: list[float] = []
    for share in shares:
        levels.append(max(share, levels[-1]) if levels else share)
    return levels
