"""Curves that say how often results are right of which the model says something."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from crowdd.features.trust.recalibration import Checked, measured, recalibrate
from crowdd.features.trust.rows import MIN_MEASURED


def drawn(truth: Callable[[float], float], n: int, seed: int = 1) -> list[Checked]:
    """Results of a model that says 0.5 to 1, mostly much, and that is right as often as ``truth`` says."""
    chance = random.Random(seed)
    values = [1 - 0.5 * chance.random() ** 3 for _ in range(n)]
    return [Checked(value, chance.random() < truth(value), nth) for nth, value in enumerate(values)]


@pytest.mark.parametrize(
    "truth", [lambda x: x, lambda x: 0.4 + 0.5 * x, lambda x: x**3, lambda x: 0.7 if x < 0.97 else 0.95]
)
def test_with_many_results_the_curve_says_what_is_right(truth):
    curve = recalibrate(drawn(truth, 4000))
    assert curve is not None and curve["n"] == 4000
    values = [each.value for each in drawn(truth, 2000, 2)]
    assert np.mean([measured(curve, x) - truth(x) for x in values]) == pytest.approx(0, abs=0.02)
    assert max(abs(measured(curve, x) - truth(x)) for x in (0.6, 0.8, 0.9, 0.999)) < 0.09
    assert curve["loss"] <= curve["raw_loss"] + 0.005


def test_the_better_method_is_taken():
    """Of a step the isotonic curve says more, of a logistic curve Platt's."""
    assert recalibrate(drawn(lambda x: 0.55 if x < 0.95 else 0.99, 3000))["method"] == "isotonic"
    assert recalibrate(drawn(lambda x: x, 200))["method"] == "platt"


def test_a_curve_never_falls_and_is_never_certain():
    for seed in range(5):
        for n in (MIN_MEASURED, 200):
            curve = recalibrate(drawn(lambda x: 1 - x / 2, n, seed))
            assert curve is not None and curve["shares"] == sorted(curve["shares"])
            assert curve["values"] == sorted(set(curve["values"])) and curve["shares"][0] > 0
    sure = recalibrate([Checked(0.99, True, nth) for nth in range(60)])
    assert sure is not None and measured(sure, 0.99) < 1


def test_few_results_measure_nothing():
    assert recalibrate(drawn(lambda x: x, MIN_MEASURED - 1)) is None
    assert measured(None, 0.97) == 0.97
    assert recalibrate([]) is None
