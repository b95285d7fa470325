"""Krippendorff's alpha, from sums that each task adds to."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal, localcontext
from itertools import combinations
from pathlib import Path

import orjson
import pytest

from crowdd.features.results import alpha_sums, comparing, comparing_marks
from crowdd.features.results.alpha import alpha_of, interval_of
from crowdd.features.results.comparing_process import measure_expected
from crowdd.kinds.answers import AnswerField

LABEL = AnswerField("n", (), "label", choices=(1, 2, 3, 4, 5))
NUMBER = AnswerField("n", (), "number")
# Krippendorff (2011), Computing Krippendorff's alpha-reliability: what four observers say of twelve units.
PUBLISHED = [
    [1, 1, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4], [4, 4, 4, 4], [1, 1, 2, 1],
    [2, 2, 2, 2], [5, 5, 5], [1, 1], [3],
]  # fmt: skip


def summed(field, units):
    sums = Counter()
    for unit in units:
        for part, amount in (alpha_sums.of_values(field, unit) or {}).items():
            sums[part] += Decimal(amount)
    return sums


def test_alpha_of_a_published_example():
    assert alpha_of(LABEL, summed(LABEL, PUBLISHED), None) == pytest.approx(0.743, abs=5e-4)
    assert alpha_of(NUMBER, summed(NUMBER, PUBLISHED), None) == pytest.approx(0.849, abs=5e-4)


def test_alpha_is_that_of_the_krippendorff_package():
    """The reference is that of krippendorff 0.9.0 for the same answers."""
    for case in orjson.loads((Path(__file__).parent / "alpha.json").read_bytes()):
        field = LABEL if case["level"] == "nominal" else NUMBER
        assert alpha_of(field, summed(field, case["units"]), None) == pytest.approx(case["alpha"], abs=1e-12), case


def test_sums_that_are_taken_back_leave_nothing():
    chance = random.Random(1)
    for field, values in ((LABEL, [1, 2, 3, 4]), (NUMBER, [0.1, 1e15, -3e-7, 1 / 3, 7])):
        tasks = [chance.choices(values, k=chance.randint(2, 9)) for _ in range(50)]
        with localcontext(alpha_sums.EXACT):
            sums = summed(field, tasks)
            for task in tasks:
                for part, amount in alpha_sums.of_values(field, task).items():
                    sums[part] -= Decimal(amount)
        assert set(sums.values()) == {0}


def test_alpha_needs_two_answers_and_two_values():
    assert alpha_of(LABEL, summed(LABEL, [[1], []]), None) is None
    assert alpha_of(LABEL, summed(LABEL, [[1, 1], [1, 1]]), None) is None, "agreement cannot be told from chance"
    assert alpha_of(LABEL, summed(LABEL, [[1, 1], [2, 2]]), None) == 1
    assert alpha_of(LABEL, summed(LABEL, [[1, 2]]), None) == pytest.approx(0)
    assert alpha_sums.of_values(NUMBER, [1e300, 1, 1])["values"] == "2", "no number squares to infinity"
    assert alpha_of(AnswerField("n", (), "text"), {"values": Decimal(4), "observed": Decimal(1)}, None) is None


def test_alpha_has_an_interval_from_ten_tasks_on_unless_all_agree():
    assert interval_of(LABEL, summed(LABEL, PUBLISHED), None) == pytest.approx((0.4623, 1), abs=1e-4)
    assert interval_of(LABEL, summed(LABEL, PUBLISHED[:9]), None) == (None, None)
    assert interval_of(LABEL, summed(LABEL, [[1, 1], [2, 2]] * 9), None) == (None, None)
    assert interval_of(AnswerField("n", (), "text"), summed(LABEL, PUBLISHED), None) == (None, None), "no chance"
    earlier = summed(LABEL, PUBLISHED)
    earlier["spread_tasks"] -= 1
    assert interval_of(LABEL, earlier, None) == (None, None), "one was compared by an earlier version"


@pytest.mark.proof
@pytest.mark.parametrize("field", [LABEL, NUMBER])
def test_intervals_of_alpha_hold_the_true_value_nearly_as_often_as_they_say(field):
    """Of crowds of the same kind, whose agreement is known from a large one."""
    chance = random.Random(4)

    def crowd(n):
        tasks = []
        for _ in range(n):
            truth = chance.randint(1, 5)
            tasks.append(
                [truth if chance.random() < 0.7 else chance.randint(1, 5) for _ in range(chance.randint(2, 5))]
            )
        return summed(field, tasks)

    true, held = alpha_of(field, crowd(20_000), None), 0
    for _ in range(100):
        low, high = interval_of(field, crowd(60), None)
        held += low <= true <= high
    assert 88 <= held <= 100


def test_chance_is_measured_by_pairs_where_no_formula_has_it():
    field = {"path": "{seen}", "type": "labels", "choices": ["fox", "owl", "hare"]}
    tasks = [["fox"], ["fox", "owl"]], [["owl"], ["owl"]], [["hare"]]  # the last has one answer only
    sets = [comparing.read_labels(one) for task in tasks[:2] for one in task]
    mean = sum(comparing.labels_distance(one, other) for one, other in combinations(sets, 2)) / 6
    assert measure_expected([field], [[[[one]] for one in task] for task in tasks], 1) == [pytest.approx(mean)]
    assert measure_expected([{"path": "{n}", "type": "number"}, field], [[[[1], []], [[2], []]]], 1) == [None, None]
    chance = random.Random(6)
    made = [[{"x": 10 * chance.randint(0, 3), "y": 0, "width": 10, "height": 10}] for _ in range(400)]
    (guess,) = measure_expected([{"path": "{b}", "type": "boxes"}], [[[[one]], [[one]]] for one in made], 1)
    exact = sum(
        comparing_marks.box_distance(comparing_marks.read_boxes(a), comparing_marks.read_boxes(b))
        for a, b in combinations(made, 2)
    ) / (400 * 399 / 2)
    assert guess == pytest.approx(exact, abs=0.04)
    assert measure_expected([{"path": "{b}", "type": "boxes"}], [[[[one]], [[one]]] for one in made], 1) == [guess], (
        "as before"
    )
