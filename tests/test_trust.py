"""bench.trust in small: crowds in memory, one through a server, and what is wrong is found."""

from __future__ import annotations

import math

import attrs
import pytest

from bench.support import testbed
from bench.trust import equality, figures, fixed
from bench.trust.crowds import SHAPES, Attack, Crowd, Shape
from bench.trust.figures import Capture, Saving
from bench.trust.site import MemorySite, ServerSite, answered

MIXED = Shape("mixed", 4, tasks=300, volunteers=60)
SEEDS = [1, 2, 3]  # one small crowd says little


def saved(shape: Shape, seeds: list[int]) -> Saving:
    outcomes = testbed.run(answered(MemorySite(), shape, seeds))
    return figures.saving(shape, outcomes, fixed.curve(shape, seeds))


def test_a_crowd_in_memory_saves_answers_and_lies_are_found():
    savings = saved(MIXED, [1, 2])
    assert savings.saved > 0.3 and savings.accuracy > 0.95 and 0.1 < savings.gold < 0.6
    assert saved(attrs.evolve(MIXED, gold=0), [1]).gold == 0
    lying = attrs.evolve(MIXED, classes=2, attack=Attack(0.3, everywhere=True, gold=1.0))
    (outcome,) = testbed.run(answered(MemorySite(), lying, [1]))
    assert outcome.captured < 0.2 < 0.3 < outcome.totals.refused / 300
    (honest,) = testbed.run(answered(MemorySite(), attrs.evolve(lying, gold=0), [1]))
    assert honest.captured > outcome.captured and honest.totals.gold == 0


def test_crowds_follow_from_their_seed():
    one, same, other = Crowd(MIXED, 1), Crowd(attrs.evolve(MIXED, gold=0), 1), Crowd(MIXED, 2)
    assert len(SHAPES) == 18
    assert one.truth[:300].tolist() == same.truth.tolist() != other.truth[:300].tolist()
    assert fixed.answered(one, 3) == fixed.answered(same, 3)


def test_how_many_answers_an_accuracy_needs():
    curve = fixed.Curve((0.80, 0.85, 0.85, 0.90, 0.92, 0.93, 0.94, 0.95))
    needed = [curve.needed(accuracy) for accuracy in (0.5, 0.80, 0.825, 0.85, 0.875, 0.95, 0.951)]
    assert needed == [2, 2, pytest.approx(2.5), 3, pytest.approx(4.5), 15, math.inf]


def test_broken_promises_are_found():
    good = Saving("mixed-4-even", True, 4.0, 0.3, 0.1, 0.97, 0.97, 0.01, 8.0, 7.0)
    assert good.saved == 0.5 and figures.broken([good] * 18) == []
    few = attrs.evolve(good, needed=6.0)
    assert figures.broken([good] * 14 + [few] * 4) == []
    assert "13 of 18" in figures.broken([good] * 13 + [few] * 5)[0]
    assert figures.broken([attrs.evolve(few, crowd="mixed-4-confusing", calibration_error=0.2)]) == []
    assert "calibration" in figures.broken([attrs.evolve(good, calibration_error=0.031)])[0]
    captured = [Capture("liars", share, 0.05, 0.03, 0.9, 4.0, 0.4, 0.2) for share in (0.03, 0.07, 0.2)]
    assert figures.captured_too_much(captured) == [
        "liars: 0.20 of the targeted tasks are captured, the bound is 0.03"
    ]  # fmt: skip


@pytest.mark.proof
@pytest.mark.size
def test_a_server_decides_as_the_rule_in_memory(dsn, tmp_path):
    with testbed.crowdd(dsn, tmp_path) as server:
        site = ServerSite(server, testbed.Sql(dsn))
        _, violations = testbed.run(equality.proven(site.one))
        outcomes = testbed.run(answered(site, MIXED, SEEDS))
        assert testbed.complaints(server) == []
    assert violations == []
    savings = figures.saving(MIXED, outcomes, fixed.curve(MIXED, SEEDS))
    assert savings.saved > 0.25 and savings.accuracy > 0.95
