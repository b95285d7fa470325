"""How far marks are the same."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from crowdd.features.results import geometry


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((0, 0, 10, 10), (0, 0, 10, 10), 1),
        ((0, 0, 10, 10), (5, 0, 15, 10), 1 / 3),
        ((0, 0, 10, 10), (10, 0, 20, 10), 0),
        ((0, 0, 10, 10), (2, 2, 4, 4), 0.04),
        ((3, 3, 3, 9), (3, 3, 3, 9), 1),
        ((3, 3, 3, 9), (0, 0, 10, 10), 0),
    ],
)
def test_boxes_are_as_alike_as_their_intersection_is_of_their_union(one, other, expected):
    assert geometry.box_iou(one, other) == pytest.approx(expected)
    assert geometry.box_iou(other, one) == pytest.approx(expected)


def test_marks_are_matched_so_that_the_sum_is_largest():
    chance = random.Random(5)
    for _ in range(200):
        rows, columns = chance.randint(1, 5), chance.randint(1, 5)
        weights = {(i, j): chance.random() for i in range(rows) for j in range(columns) if chance.random() < 0.6}
        pairs = geometry.best_pairs(weights)
        assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
        one, other = (range(rows), range(columns)) if rows <= columns else (range(columns), range(rows))
        best = max(
            sum(weights.get((i, j) if rows <= columns else (j, i), 0) for i, j in zip(one, chosen, strict=True))
            for chosen in permutations(other, len(one))
        )
        assert sum(weights[pair] for pair in pairs) == pytest.approx(best)
    assert geometry.best_pairs({}) == []


def test_areas_are_compared_on_a_raster():
    square = [(0, 0), (100, 0), (100, 100), (0, 100)]
    assert geometry.area_iou(square, square) == 1
    assert geometry.area_iou(square, [(50, 0), (150, 0), (150, 100), (50, 100)]) == pytest.approx(1 / 3, abs=0.01)
    assert geometry.area_iou(square, [(0, 0), (100, 0), (0, 100)]) == pytest.approx(1 / 2, abs=0.01)
    assert geometry.area_iou(square, [(500, 500), (600, 500), (600, 600)]) == 0
    assert geometry.area_iou([(1, 1)] * 3, [(1, 1)] * 3) == 1, "an area without extent"
    small = [(x / 1000, y / 1000) for x, y in square]
    assert geometry.area_iou(small, [(x + 0.05, y) for x, y in small]) == pytest.approx(1 / 3, abs=0.01)


def test_parts_are_compared_by_length_for_each_label():
    one = geometry.joined([(0, 5, ""), (3, 8, ""), (9, 9, ""), (2, 4, "x"), (8, 10, "")])
    assert one == [(0, 10, ""), (2, 4, "x")]
    assert geometry.span_iou(one, one) == geometry.span_f1(one, one) == 1
    assert geometry.common_length(one, [(5, 15, ""), (3, 6, "x")]) == 6
    assert geometry.span_iou([(0, 5, "")], [(0, 5, "x")]) == 0
    assert geometry.span_f1([(0, 4, "")], [(2, 6, "")]) == pytest.approx(0.5)
    assert geometry.span_iou([], []) == geometry.span_f1([], []) == 1
    assert geometry.f1(0, 0, 0) == 1 and geometry.f1(2, 2, 4) == pytest.approx(2 / 3)


def test_common_parts_are_those_of_each_character():
    chance = random.Random(3)
    for _ in range(100):
        made = [
            geometry.joined(
                (start, start + chance.randint(0, 6), chance.choice(["", "a"]))
                for start in (chance.randint(0, 20) for _ in range(5))
            )
            for _ in range(2)
        ]
        one, other = ({(at, label) for start, end, label in spans for at in range(start, end)} for spans in made)
        assert geometry.common_length(*made) == len(one & other)
        assert geometry.length(made[0]) == len(one)
