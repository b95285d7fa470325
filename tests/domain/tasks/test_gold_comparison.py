"""Answers to gold tasks that a job compares: right, wrong, and of another form."""

from __future__ import annotations

import time
from typing import Any

import pytest
import pytest_twisted
from psycopg2.extras import Json
from support.ledger import Ledger

from crowdd.features.results.gold_comparison import is_right
from crowdd.features.trust.feature import TrustFeature


def box(x: float, size: float = 10, **more: Any) -> dict[str, Any]:
    return {"x": x, "y": 0, "width": size, "height": size, **more}


SQUARE = [[0, 0], [100, 0], [100, 100], [0, 100]]


@pytest.mark.parametrize(
    ("rule", "answer", "right", "wrong"),
    [
        ({"type": "boxes"}, [box(0), box(50)], [[box(1), box(51)], [box(0), box(50), box(80)]], [[box(20)], [], "x", [{}]]),
        ({"type": "boxes", "threshold": 1}, [box(0)], [[box(1)]], [[box(0), box(50)], [box(0, label="fox")]]),
        ({"type": "points", "tolerance": 5}, [{"x": 1, "y": 1}], [[{"x": 4, "y": 1}]], [[{"x": 9, "y": 1}], [], None]),
        ({"type": "polygon"}, SQUARE, [SQUARE, [[0, 0], [90, 0], [90, 100], [0, 100]]], [[[0, 0], [9, 0], [9, 9]], 3]),
        ({"type": "spans"}, [{"start": 0, "end": 10}], [[{"start": 1, "end": 10}]], [[{"start": 20, "end": 30}], [1]]),
        ({"type": "text", "threshold": 0.2}, "a red fox", ["A red fix", "a  red fox"], ["a blue whale", 1]),
    ],
)  # fmt: skip
def test_values_near_enough_are_right(rule, answer, right, wrong):
    assert [value for value in right if not is_right(rule, [answer], value)] == []
    assert [value for value in wrong if is_right(rule, [answer], value)] == []
    assert is_right(rule, [[], answer], right[0])


def test_thousands_of_marks_are_wrong_at_once():
    many = [box(number * 20) for number in range(20_000)]
    assert not is_right({"type": "boxes"}, [[box(0)]], many)


@pytest.mark.parametrize("rule", [{"type": "boxes"}, {"type": "points", "tolerance": 5}], ids=lambda rule: rule["type"])
def test_marks_apart_are_compared_as_quickly_as_they_are_many(rule):
    many = [box(number * 20) for number in range(10_000)]
    began = time.process_time()
    assert is_right(rule, [many], many[::-1])
    assert time.process_time() - began < 4, "by all pairs it would be minutes"


@pytest_twisted.ensureDeferred
async def test_marks_that_take_too_long_are_not_judged_and_hold_nobody_up(dsn, house):
    """2,500 boxes that all overlap take half a minute: not in this process, and no longer than five seconds."""
    ledger = Ledger(dsn)
    project = ledger.project(tasks=2)
    gold, _other = ledger.tasks(project)
    overlapping = [box(number / 1000) for number in range(2500)]
    make = "SELECT make_gold(%(p)s, %(t)s, %(a)s, %(r)s, NULL, 1, clock())"
    ledger.run(make, p=project, t=gold, a=Json([overlapping]), r=Json({"type": "boxes"}))
    for actor, boxes in (("c:a", overlapping[::-1]), ("c:b", [box(0)])):
        ledger.hold(project, actor, gold)
        ledger.answer(project, actor, gold, {"answer": boxes})
    for nth in range(20):
        ledger.hold(project, f"c:{nth}", gold)
        ledger.answer(project, f"c:{nth}", gold, {"answer": [box(-number * 20) for number in range(1500)]})
    of_reactor, of_all = time.thread_time(), time.process_time()
    assert await house[TrustFeature].gold.compare_pending(100) == 21
    assert time.thread_time() - of_reactor < 22 * 0.02
    assert time.process_time() - of_all < 2
    rows = ledger.rows("SELECT actor, is_right, taught IS NOT NULL AS taught FROM task_run ORDER BY id LIMIT 2")
    assert rows == [
        {"actor": "c:a", "is_right": None, "taught": False},
        {"actor": "c:b", "is_right": False, "taught": True},
    ]
    assert await house[TrustFeature].gold.compare_pending(100) == 0, "not yet"
    (failed,) = ledger.rows("SELECT failure, tries, retry_at - clock() AS wait FROM gold_failure")
    assert failed["failure"] == "took more than 5 seconds of processor time"
    assert failed["tries"] == 1 and 0 < failed["wait"].total_seconds() <= 30
    # An answer that has changed is another one; one that can be compared leaves nothing behind.
    ledger.run("UPDATE task_run SET info = %(i)s WHERE actor = 'c:a'", i=Json({"answer": [box(0)]}))
    assert await house[TrustFeature].gold.compare_pending(100) == 1
    assert ledger.value("SELECT is_right FROM task_run WHERE actor = 'c:a'") is False
    assert ledger.value("SELECT count(*) FROM gold_failure") == 0
    ledger.close()
