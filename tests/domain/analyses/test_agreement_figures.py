"""Coefficients of agreement: published values, and what their definitions say, written out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from crowdd.features.analyses import agreement
from crowdd.features.analyses.agreement import Patterns, Scale
from crowdd.features.analyses.methods import Answers

N = None
RELIABILITY = [  # Krippendorff 2011, section F: four observers, twelve units; the same in Gwet 2014 (irrCAC, cac.raw4raters)
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]
UNITS = [[value for value in unit if value is not None] for unit in zip(*RELIABILITY, strict=True)]


def answers_of(units: list[list[int]]) -> Answers:
    flat = [(task, who, value - 1) for task, unit in enumerate(units) for who, value in enumerate(unit)]
    task, who, label = (np.array(column, dtype=np.int32) for column in zip(*flat, strict=True))
    return Answers(task, who, label, len(units), int(who.max()) + 1, int(label.max()) + 1)


def figures(units: list[list[int]], choices: list[Any], unordered: tuple[Any, ...] = ()) -> dict[str, Any]:
    answers = answers_of(units)
    classes = list(range(1, answers.n_classes + 1))
    actors = [f"u:{nth}" for nth in range(answers.n_volunteers)]
    return agreement.figures(answers, range(100, 100 + len(units)), actors, classes, Scale(choices, unordered, 7))


def test_published_values_come_out():
    outcome = figures(UNITS, [1, 2, 3, 4, 5])
    values = {one["name"]: one["value"] for one in outcome["measures"]}
    assert {name: round(value, 3) for name, value in values.items() if name.startswith("alpha")} == {
        "alpha_nominal": 0.743, "alpha_ordinal": 0.815, "alpha_interval": 0.849, "alpha_ratio": 0.797,
    }  # fmt: skip
    assert (values["gwet_ac1"], values["fleiss_kappa"]) == pytest.approx((0.77544, 0.76117), abs=1e-5)
    assert {(one["tasks"], one["answers"]) for one in outcome["measures"]} == {(11, 40)}
    for one in outcome["measures"]:
        assert one["low"] < one["value"] < one["high"] <= 1, one


def brute(units: list[list[int]], k: int, weight: Callable[[int, int], float]) -> float:
    """Gwet's AC, as it is defined, over pairs."""
    several = [unit for unit in units if len(unit) > 1]
    agree = [np.mean([weight(a, b) for a, b in permutations(unit, 2)]) for unit in several]
    shares = [np.mean([unit.count(c) / len(unit) for unit in units]) for c in range(1, k + 1)]
    total = sum(weight(a, b) for a in range(k) for b in range(k))
    chance = total / (k * (k - 1)) * sum(share * (1 - share) for share in shares)
    return float((np.mean(agree) - chance) / (1 - chance))


def test_weights_for_ranks_are_those_of_gwet_and_choices_that_nobody_says_count():
    def weight(a: int, b: int) -> float:
        apart = abs(a - b) + 1
        return 1 - (apart * (apart - 1) / 2) / 15 if a != b else 1.0  # of six choices, 15 = 6 over 2

    values = {one["name"]: one["value"] for one in figures(UNITS, [1, 2, 3, 4, 5, 6])["measures"]}
    assert values["gwet_ac2"] == pytest.approx(brute(UNITS, 6, weight), abs=1e-12)
    assert values["gwet_ac1"] == pytest.approx(brute(UNITS, 6, lambda a, b: float(a == b)), abs=1e-12)
    names = figures(UNITS, ["a", "b", "c", "d", "e"])["measures"]
    assert "alpha_ordinal" in {one["name"] for one in names} and len(names) == 5, "names have no differences"
    without = figures(UNITS, [1, 2, 3, 4, 5], unordered=(5,))["measures"]
    assert {one["name"]: one["answers"] for one in without}["alpha_ordinal"] == 37, "can't tell is no rank"


def test_classes_pairs_and_difficult_tasks_say_on_what_they_rest():
    units = [[1, 1, 1], [1, 1, 2], [2, 2, 2], [1, 2, 1], [2, 2, 1], [1]]
    outcome = figures(units, ["fox", "owl"])
    fox, owl = outcome["classes"]
    assert (fox["value"], fox["answers"], owl["answers"]) == ("fox", 8, 7)
    assert fox["agreement"] == pytest.approx((6 + 2 + 2) / (6 + 4 + 4 + 2)), "of pairs with a fox, those with two"
    assert owl["low"] < owl["agreement"] < owl["high"]
    first = next(one for one in outcome["pairs"] if one["volunteers"] == ["u:0", "u:1"])
    assert (first["tasks"], first["same"]) == (5, 4) and first["low"] < 0.8 < first["high"]
    assert [one["task_id"] for one in outcome["difficult"]] == [101, 103, 104]
    assert outcome["difficult"][0] == {"task_id": 101, "answers": 3, "difficulty": pytest.approx(2 / 3)}


def test_nothing_to_compare_is_no_figure():
    assert figures([[1], [1], [2]], ["fox", "owl"])["measures"] == []
    same = {one["name"]: one for one in figures([[1, 1]] * 5, ["fox", "owl"])["measures"]}
    assert same["alpha_nominal"]["value"] is None, "chance cannot be told from agreement"
    assert (same["gwet_ac1"]["value"], same["alpha_nominal"]["low"]) == (1, None)


@pytest.mark.proof
def test_intervals_hold_the_true_value_nearly_as_often_as_they_say():
    """Of crowds of the same kind, whose agreement is known from a large one."""
    rng = np.random.default_rng(3)

    def crowd(n: int) -> Patterns:
        truth = rng.integers(0, 3, n)
        labels = np.where(rng.random((n, 4)) < 0.75, truth[:, None], rng.integers(0, 3, (n, 4)))
        return Patterns.of(np.stack([(labels == c).sum(axis=1) for c in range(3)], axis=1).astype(float))

    whole = crowd(200_000)
    true = agreement.alpha(whole.coincidences(whole.tasks), agreement.nominal)
    held = 0
    for seed in range(100):
        of = crowd(150)
        values = [agreement.alpha(of.coincidences(tasks), agreement.nominal) for tasks in of.draws(seed)[:400]]
        low, high = np.percentile(values, (2.5, 97.5))
        held += low <= true <= high
    assert 88 <= held <= 100
