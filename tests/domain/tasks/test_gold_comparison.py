"""Answers to gold tasks that a job compares: right, wrong, and of another form."""

from __future__ import annotations

from typing import Any

import pytest

from crowdd.domain.tasks.gold.comparison import is_right


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
