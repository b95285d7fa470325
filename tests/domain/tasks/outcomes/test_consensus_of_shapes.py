"""What areas, lines, places, transcriptions, dates and rankings of several people say together."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import combinations
from typing import Any

import pytest

from crowdd.features.results import comparing_shapes
from crowdd.features.results.alpha_sums import measure
from crowdd.features.results.comparing_process import COMPARED, compare_task
from crowdd.features.results.comparing_texts import unsure_parts
from crowdd.kinds.answers import AnswerField, fits


def compare(type_: str, values: list[Any], **more: Any) -> Any:
    field = AnswerField("n", ("n",), type_, **more)
    assert all(fits(field, {"n": value}) for value in values)
    return COMPARED[type_](field, values)


def place(longitude: float, latitude: float, **more: Any) -> Any:
    return {"geometry": {"type": "Point", "coordinates": [longitude, latitude]}, **more}


def square(x: float, y: float, side: float, **more: Any) -> Any:
    return {"points": [[x, y], [x + side, y], [x + side, y + side], [x, y + side]], **more}


def line(*points: tuple[float, float], **more: Any) -> Any:
    return {"points": [[*point] for point in points], **more}


def row(text: str, y: float, height: float = 10, width: float = 100) -> Any:
    return {"text": text, "x": 0, "y": y, "width": width, "height": height}


ONE = {
    "areas": [square(0, 0, 50, label="lake")],
    "lines": [line((0, 0), (100, 40))],
    "places": [place(7.1, 50.7, label="mill")],
    "transcript": [row("Dear Anna", 0), {"text": "no place"}],
    "date": "1889-05",
    "ranking": ["b", "a"],
}


@pytest.mark.parametrize("type_", ONE)
def test_the_same_answers_are_their_own_consensus_and_nobody_says_nothing(type_):
    choices = ["lake", "mill"] if type_ != "ranking" else ["a", "b"]
    declaration = {"type": type_, "choices": choices}
    assert COMPARED[type_](AnswerField("n", ("n",), type_), []).n == 0
    for n in (1, 2, 5):
        compared = compare_task([declaration], [[[ONE[type_]]]] * n, None)["said"][0]
        assert compared == {"value": ONE[type_], "answers": n, "agreement": 1.0, "confidence": 1.0}
    read, distance = measure(AnswerField("n", ("n",), type_), [ONE[type_]])
    assert distance(read(ONE[type_]), read(ONE[type_])) == 0


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("date", "1889-02-30"),
        ("date", "1889-13"),
        ("date", "89"),
        ("date", 1889),
        ("ranking", ["a"]),
        ("ranking", ["a", "a"]),
        ("ranking", ["a", "c"]),
        ("transcript", [{"text": 1}]),
        ("transcript", ["line"]),
        ("areas", [{"points": [[0, 0], [1, 1]]}]),
        ("areas", [{"geometry": {"type": "Polygon", "coordinates": []}}]),
        ("areas", [square(0, 0, 5, label="c")]),
        ("lines", [{"points": [[0, 0]]}]),
        ("places", [place(181, 0)]),
        ("places", [{"geometry": {"type": "Point", "coordinates": ["7", 50]}}]),
        ("places", [{"geometry": None}]),
        ("places", {"geometry": 1}),
    ],
)
def test_what_is_malformed_is_left_out(type_, value):
    assert not fits(AnswerField("n", ("n",), type_, choices=("a", "b")), {"n": value})


OTHER = {
    "text": ("a fox", "an owl"),
    "boxes": ([{"x": 0, "y": 0, "width": 9, "height": 9}], [{"x": 500, "y": 0, "width": 9, "height": 9}]),
    "points": ([{"x": 1, "y": 1}], [{"x": 500, "y": 1}]),
    "polygon": ([[0, 0], [9, 0], [9, 9]], [[500, 0], [509, 0], [509, 9]]),
    "spans": ([{"start": 0, "end": 5}], [{"start": 9, "end": 12}]),
    "areas": (ONE["areas"], [square(500, 0, 50)]),
    "lines": (ONE["lines"], [line((0, 900), (100, 940))]),
    "places": (ONE["places"], [place(20, 10)]),
    "transcript": ([row("Dear sister", 0)], [row("late boat", 500)]),
    "date": ("1889-05", "1901"),
    "ranking": (["b", "a"], ["a", "b"]),
}
TIES = {"text": "a fox", **{mark: [] for mark in ("boxes", "points", "spans", "transcript")}}
"""What two answers say that have nothing in common: the first text, that no mark is there for both, or nothing at all."""


@pytest.mark.parametrize("type_", [*COMPARED])
def test_one_answer_a_tie_nothing_there_and_can_t_tell(type_):
    one, other = OTHER[type_]

    def said(*values: Any) -> Any:
        return compare_task([{"type": type_}], [[[value]] for value in values], None)["said"][0]

    assert said(one) == {"value": one, "answers": 1, "agreement": 1.0, "confidence": 1.0}
    tie = said(one, other)
    assert tie["answers"] == 2 and tie["agreement"] < 0.5 and tie.get("value") == TIES.get(type_)
    nothing = {"value": [], "answers": 3, "agreement": pytest.approx(1 / 3), "confidence": pytest.approx(2 / 3)}
    assert said([], one, []) == nothing
    assert said(None, one, None) == {**nothing, "value": None}, "can't tell"
    assert said(one, None, {"x": "far"}) == {"value": one, "answers": 1, "agreement": 1.0, "confidence": 1.0}
    assert said({"x": "far"}, 7)["answers"] == 0, "malformed"


def test_a_place_is_the_median_of_those_within_reach_person_by_person():
    # At 60° north a degree of longitude is half as long: 0.0016° are 89 m.
    compared = compare("places", [[place(10, 60)], [place(10.0016, 60)], [place(10.0008, 60), place(10.004, 60)]])
    assert [one["geometry"]["coordinates"] for one in compared.value] == [[10.0008, 60]]
    assert compared.confidence == 1 and compared.agreement == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)
    assert compare("places", [[place(10, 60)], [place(10.0016, 60)]], tolerance=50.0).won is False
    # Across the 180th meridian, and labels: those who say something else of it are no consensus about it.
    across = compare("places", [[place(179.9999, 0)], [place(-179.9999, 0)], [place(-179.9997, 0)]])
    assert across.value[0]["geometry"]["coordinates"] == [-179.9999, 0]
    labelled = compare("places", [[place(1, 1, label="a")], [place(1, 1, label="a")], [place(1, 1, label="b")]])
    assert labelled.value == [place(1, 1, label="a")] and labelled.confidence == pytest.approx(2 / 3)
    assert compare("places", [[], [], [place(1, 1)]]).value == []


def test_places_found_together_are_those_of_an_independent_count():
    chance = random.Random(4)
    for _ in range(200):
        towns = [(chance.uniform(-179, 179), chance.uniform(-70, 70)) for _ in range(4)]
        people = [[town for town in towns if chance.random() < 0.6] for _ in range(5)]
        answers = [
            [place(x + chance.uniform(-1, 1) * 1e-4, y + chance.uniform(-1, 1) * 1e-4) for x, y in person]
            for person in people
        ]
        counts = Counter(town for person in people for town in person)
        expected = sorted(town for town, n in counts.items() if n >= 3)
        places = sorted(tuple(one["geometry"]["coordinates"]) for one in compare("places", answers).value or ())
        assert len(places) == len(expected)
        for one, town in zip(places, expected, strict=True):
            assert math.dist(one, town) < 2e-4


def test_areas_of_several_people_are_what_most_of_them_cover():
    compared = compare("areas", [[square(0, 0, 100), square(300, 0, 50)], [square(4, 0, 100)], [square(0, 4, 100)]])
    xs, ys = zip(*compared.value[0]["points"], strict=True)
    assert len(compared.value) == 1 and (min(xs), max(ys)) == (pytest.approx(0, abs=1), pytest.approx(100, abs=1))
    assert 0.9 < compared.confidence <= 1
    ring = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]
    area = {"geometry": {"type": "Polygon", "coordinates": [ring]}, "label": "wood"}
    moved = {"geometry": {"type": "Polygon", "coordinates": [[[x + 0.1, y] for x, y in ring]]}, "label": "wood"}
    geometry = compare("areas", [[area], [moved]]).value[0]
    corners = geometry["geometry"]["coordinates"][0]
    assert geometry["label"] == "wood" and corners[0] == corners[-1]
    assert min(x for x, _ in corners) == pytest.approx(0.1, abs=0.01)
    assert compare("areas", [[square(0, 0, 10)], [square(50, 0, 10)]]).agreement == 0


def test_a_line_runs_in_the_middle_whichever_end_people_begin_at():
    compared = compare(
        "lines", [[line((0, 0), (400, 300))], [line((400, 304), (0, 4))], [line((0, 2), (200, 152), (400, 302))]]
    )
    points = compared.value[0]["points"]
    assert len(compared.value) == 1 and compared.confidence == 1 and compared.agreement == 1
    assert all(abs(y - (0.75 * x + 2)) < 1 for x, y in points)
    assert {round(points[0][0]), round(points[-1][0])} == {0, 400}
    assert compare("lines", [[line((0, 0), (400, 0))], [line((0, 200), (400, 200))]]).won is False
    assert [x for x, _ in comparing_shapes.evenly([(0, 0), (0, 0), (31, 0)])] == pytest.approx(list(range(32)))
    assert comparing_shapes.evenly([(5, 5), (5, 5)]) == [(5, 5)] * 32


def test_lines_of_a_page_are_matched_by_place_and_uncertain_words_are_marked():
    answers = [
        [row("Dear Anna", 0), row("the ship came late", 20)],
        [row("Dear Anna", 1), row("the ship came late", 21), row("a line of one", 80)],
        [row("the shop came late", 19), row("Dear Hanna", 0)],
    ]
    compared = compare("transcript", answers)
    assert [one["text"] for one in compared.value] == ["Dear Anna", "the ship came late"]
    assert [[one["text"][start:end] for start, end in one.get("unsure", [])] for one in compared.value] == [
        ["Anna"],
        ["ship"],
    ]
    assert compared.value[0]["y"] == 0 and compared.value[1]["y"] == 20
    # Who leaves out the beginning is no reason to put what comes last before it.
    late = [row(f"line {nth}", 20 * nth) for nth in range(4)]
    answers = [late, late[2:], late[3:], late[:2]]
    assert [one["text"] for one in compare("transcript", answers).value] == [one["text"] for one in late]
    columns = [row("left", 0), row("left again", 20), {**row("right", 0), "x": 300}]
    assert [one["text"] for one in compare("transcript", [columns, columns[1:]]).value] == ["left again", "right"]
    # Without places: one text, whose lines are kept.
    heard = [
        [{"text": "one two three"}, {"text": "four"}],
        [{"text": "one two three"}, {"text": "four"}],
        [{"text": "one too three"}],
    ]
    assert [one["text"] for one in compare("transcript", heard).value] == ["one two three", "four"]
    assert unsure_parts("a b", ["a b", "a c"]) == [[2, 3]]
    assert unsure_parts("a b", ["a b"]) == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1889-05-01", "1889-05-01", "1901"], ("1889-05-01", 2 / 3)),
        (["1880", "1889", "1895"], ("1889", 1 / 3)),
        (["1880", "1889"], (None, None)),
        (["1889-05", "1889-05-03", "1889"], ("1889-05", 1)),
        (["1880-01-01", "1890-01-01", "1890-02", "1900"], ("1890-01", 1 / 4)),
    ],
)
def test_dates(values, expected):
    for order in (values, values[::-1]):
        compared = compare("date", order)
        assert (compared.value if compared.won else None, compared.confidence) == pytest.approx(expected)


def test_a_ranking_is_the_order_of_mean_ranks():
    compared = compare("ranking", [["a", "b", "c"], ["b", "a", "c"], ["a", "c", "b"]])
    assert compared.value == ["a", "b", "c"] and compared.agreement == pytest.approx(1 - (1 + 1 + 2) / 9)
    assert not compare("ranking", [["a", "b"], ["b", "a"]]).won
    chance = random.Random(2)
    for _ in range(200):
        answers = [chance.sample("abcd", 4) for _ in range(chance.choice([3, 5, 7]))]
        points = {entry: sum(4 - answer.index(entry) for answer in answers) for entry in "abcd"}
        compared = compare("ranking", answers)
        assert compared.won == (len(set(points.values())) == 4)
        assert not compared.won or compared.value == sorted("abcd", key=lambda entry: -points[entry])
        pairs = [*combinations("abcd", 2)]
        apart = [
            sum((one.index(a) < one.index(b)) != (other.index(a) < other.index(b)) for a, b in pairs) / 6
            for one, other in combinations(answers, 2)
        ]
        assert compared.agreement == pytest.approx(1 - sum(apart) / len(apart))
