"""What texts and marks of several people say together."""

from __future__ import annotations

import math
import random
from itertools import combinations
from pathlib import Path

import orjson
import pytest

from crowdd.features.results import comparing, comparing_marks, comparing_texts
from crowdd.features.results.geometry import area_iou
from crowdd.kinds.answers import AnswerField

FIELD = AnswerField("n", ("n",), "points")


def box(x, y, width=10, height=10, **more):
    return {"x": x, "y": y, "width": width, "height": height, **more}


def said(found):
    return (found.value if found.won else None, found.n, *map(_rounded, (found.agreement, found.confidence)))


def _rounded(value):
    return None if value is None else round(value, 4)


# ---------------------------------------------------------------------------------------------------------------- texts


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], (None, 0, None, None)),
        (["A fox"], ("A fox", 1, 1, 1)),
        (["A  Fox ", "a fox", "A  Fox ", "owl"], ("A  Fox ", 4, 0.5, 0.75)),
        (["ﬁn", "FIN"], ("ﬁn", 2, 1, 1)),
        (["abcd", "abce"], ("abcd", 2, 0.75, 0.875)),
        (["smith", "smyth", "jones"], ("smith", 3, 0.2667, 0.6)),
        (["one two three", "one too three", "one two tree"], ("one two three", 3, 0.8974, 0.9487)),
        (["a b c\nd e f", "a b x\nd e f", "a b c\nd y f"], ("a b c\nd e f", 3, 0.8788, 0.9394)),
        (["", ""], ("", 2, 1, 1)),
    ],
)
def test_texts(values, expected):
    consensus = said(comparing_texts.compare_texts(FIELD, values))
    assert consensus[:2] == expected[:2]
    assert consensus[2:] == pytest.approx(expected[2:], abs=1e-3) if values else consensus[2:] == expected[2:]


def test_rover_says_what_crowd_kit_says():
    """The reference is that of crowd-kit 1.4.2 for the same texts."""
    for case in orjson.loads((Path(__file__).parent / "rover.json").read_bytes()):
        assert " ".join(comparing_texts.rover([text.split() for text in case["texts"]])) == case["rover"], case


def test_rover_takes_the_frequent_way_of_writing_a_word():
    words = comparing_texts.rover([["The", "fox"], ["the", "fox"], ["The", "Fox,"]], comparing_texts.plain_word)
    assert words == ["The", "fox"]


def test_rover_in_a_band_is_rover(monkeypatch):
    chance = random.Random(11)
    cases = [
        [[chance.choice("abcdefg") for _ in range(chance.randint(0, 30))] for _ in range(chance.randint(2, 5))]
        for _ in range(100)
    ]
    monkeypatch.setattr(comparing_texts, "_FIRST_BAND", 1000)
    whole = [comparing_texts.rover(case) for case in cases]
    monkeypatch.setattr(comparing_texts, "_FIRST_BAND", 1)
    assert [comparing_texts.rover(case) for case in cases] == whole


# ---------------------------------------------------------------------------------------------------------------- marks


def test_boxes_of_half_the_people_are_boxes_of_all():
    three = [[box(0, 0), box(100, 100)], [box(1, 0)], [box(0, 2), box(50, 50)]]
    value, n, agreement, confidence = said(comparing_marks.compare_boxes(FIELD, three))
    assert (value, n, confidence) == ([box(0, 0)], 3, 1)
    pairs = [
        comparing_marks.box_distance(comparing_marks.read_boxes(a), comparing_marks.read_boxes(b))
        for a, b in combinations(three, 2)
    ]
    assert agreement == pytest.approx(1 - sum(pairs) / 3, abs=1e-4)
    assert comparing_marks.box_distance(
        comparing_marks.read_boxes(three[0]), comparing_marks.read_boxes(three[1])
    ) == pytest.approx(1 - (90 / 110) / 2)
    assert said(comparing_marks.compare_boxes(FIELD, [[], [], [box(0, 0)]])) == ([], 3, 0.3333, 0.6667), (
        "most have none"
    )
    assert said(comparing_marks.compare_boxes(FIELD, [[], []])) == ([], 2, 1, 1)
    assert said(comparing_marks.compare_boxes(FIELD, [[box(3, 4)]])) == ([box(3, 4)], 1, 1, 1)
    assert said(comparing_marks.compare_boxes(FIELD, [])) == (None, 0, None, None)


def test_a_person_counts_once_in_a_box():
    twice = [[box(0, 0), box(1, 1), box(0.5, 0)], [box(300, 0)], [box(600, 0)]]
    assert comparing_marks.compare_boxes(FIELD, twice).value == []
    many = [[box(0, 0), box(2, 0)], [box(0, 0)], [box(0, 0)]]
    assert comparing_marks.compare_boxes(FIELD, many).value == [box(0, 0)], "the nearest one of each"


def test_boxes_have_the_label_of_most_and_agree_only_with_it():
    value = [[box(0, 0, label="fox")], [box(0, 0, label="fox")], [box(0, 0, label="owl")]]
    consensus = comparing_marks.compare_boxes(FIELD, value)
    assert (consensus.value, consensus.confidence) == ([box(0, 0, label="fox")], 1)
    assert consensus.agreement == pytest.approx(1 / 3)
    assert comparing_marks.compare_boxes(FIELD, value[1:]).value == [box(0, 0)], "as many say one as the other"


def test_negative_sides_and_order_do_not_matter():
    assert comparing_marks.compare_boxes(FIELD, [[box(10, 10, -10, -10)], [box(0, 0)]]).value == [box(0, 0)]
    consensus = comparing_marks.compare_boxes(FIELD, [[box(0, 0), box(40, 40)], [box(40, 40), box(0, 0)]])
    assert consensus.agreement == consensus.confidence == 1 and len(consensus.value) == 2


def test_points_near_each_other_are_one():
    near = AnswerField("n", (), "points", tolerance=5)
    three = [[{"x": 0, "y": 0}, {"x": 50, "y": 50}], [{"x": 3, "y": 0}], [{"x": 0, "y": 4}, {"x": 90, "y": 0}]]
    consensus = comparing_marks.compare_points(near, three)
    assert (consensus.value, consensus.confidence) == ([{"x": 0, "y": 0}], 1)
    assert consensus.agreement == pytest.approx(1 - (1 / 3 + 1 / 2 + 1 / 3) / 3)
    without = [[{"x": 1000, "y": 1000}], [{"x": 1000, "y": 1020}], [{"x": 1000, "y": 1060}]]
    assert comparing_marks.compare_points(FIELD, without).value == [{"x": 1000, "y": 1010}], "2 % of the diagonal is 29"
    exact = AnswerField("n", (), "points", tolerance=0)
    assert comparing_marks.compare_points(exact, [[{"x": 1, "y": 1}], [{"x": 1, "y": 1}]]).agreement == 1


def test_clusters_are_those_of_dbscan():
    """A second implementation, straight from the definition."""
    chance = random.Random(4)
    field = AnswerField("n", (), "points", tolerance=1)
    for _ in range(60):
        n = chance.randint(2, 7)
        answers = [[{"x": chance.uniform(0, 9), "y": 0} for _ in range(chance.randint(0, 6))] for _ in range(n)]
        made = [(person, one["x"]) for person, answer in enumerate(answers) for one in answer]
        needed = max(2, math.ceil(n / 2))
        near = [{j for j, (_, y) in enumerate(made) if abs(x - y) <= 1} for _, x in made]
        cores = {i for i, others in enumerate(near) if len({made[j][0] for j in others}) >= needed}
        parts = []
        for core in cores:
            joined = {core, *(near[core] & cores)}
            parts = [part for part in parts if not part & joined or not (joined := joined | part)]
            parts.append(joined)
        assert len(comparing_marks.compare_points(field, answers).value) == len(parts)


def test_spans_are_the_characters_that_half_of_the_people_mark():
    three = [[{"start": 0, "end": 5}], [{"start": 3, "end": 8}], [{"start": 4, "end": 9}]]
    assert said(comparing_texts.compare_spans(FIELD, three)) == ([{"start": 3, "end": 8}], 3, 0.4667, 0.6389)
    named = [
        [{"start": 0, "end": 4, "label": "a"}, {"start": 2, "end": 6, "label": "b"}],
        [{"start": 0, "end": 4, "label": "a"}],
        [{"start": 2, "end": 6, "label": "b"}],
    ]
    assert comparing_texts.compare_spans(FIELD, named).value == [
        {"start": 0, "end": 4, "label": "a"},
        {"start": 2, "end": 6, "label": "b"},
    ]
    assert said(comparing_texts.compare_spans(FIELD, [[], [], [{"start": 1, "end": 2}]])) == ([], 3, 0.3333, 0.6667)
    seconds = [[{"start": 0.5, "end": 2.25}], [{"start": 0.5, "end": 2.25}]]
    assert comparing_texts.compare_spans(FIELD, seconds).value == seconds[0]


def test_spans_are_counted_character_by_character():
    chance = random.Random(8)
    for _ in range(60):
        n = chance.randint(1, 6)
        answers = [
            [
                {"start": start, "end": start + chance.randint(0, 5), "label": chance.choice("ab")}
                for start in (chance.randint(0, 15) for _ in range(3))
            ]
            for _ in range(n)
        ]
        sets = [{(at, s["label"]) for s in answer for at in range(s["start"], s["end"])} for answer in answers]
        consensus = comparing_texts.compare_spans(FIELD, answers)
        got = {(at, s["label"]) for s in consensus.value for at in range(s["start"], s["end"])}
        assert got == {each for one in sets for each in one if 2 * sum(each in other for other in sets) >= n}
        shares = [len(one & got) / len(one | got) if one | got else 1 for one in sets]
        assert consensus.confidence == pytest.approx(sum(shares) / n)


def test_an_area_is_what_half_of_the_people_cover():
    square = [[0, 0], [100, 0], [100, 100], [0, 100]]
    right = [[50, 0], [150, 0], [150, 100], [50, 100]]
    assert comparing_marks.compare_polygons(FIELD, [square] * 3).value == square
    consensus = comparing_marks.compare_polygons(FIELD, [square, square, right])
    assert area_iou(consensus.value, square) > 0.98
    assert consensus.confidence == pytest.approx((1 + 1 + 1 / 3) / 3, abs=0.01)
    assert consensus.agreement == pytest.approx((1 + 1 / 3 + 1 / 3) / 3, abs=0.01)
    objects = [[{"x": x, "y": y} for x, y in square]] * 2
    assert comparing_marks.compare_polygons(FIELD, objects).value == objects[0], "as the answers write corners"
    apart = [[[x + 300 * nth, y] for x, y in square] for nth in range(3)]
    assert comparing_marks.compare_polygons(FIELD, apart).won is False
    assert comparing_marks.compare_polygons(FIELD, [square]).value is square


def test_the_outline_of_a_round_area_has_few_corners_and_covers_it():
    chance = random.Random(2)

    def round_one(size):
        turns = [2 * math.pi * nth / 60 for nth in range(60)]
        return [[200 + size * math.cos(turn), 200 + size * math.sin(turn)] for turn in turns]

    sizes = [100 + chance.uniform(-5, 5) for _ in range(5)]
    consensus = comparing_marks.compare_polygons(FIELD, list(map(round_one, sizes)))
    assert len(consensus.value) < 60
    assert area_iou(consensus.value, round_one(sorted(sizes)[2])) > 0.98
    line = [[0, 0], [100, 0], [50, 0]]
    assert len(comparing_marks.compare_polygons(FIELD, [line, line]).value) >= 3, (
        "an area without extent has an outline, too"
    )


def test_sets_are_as_far_apart_as_masi_says():
    one, other = comparing.read_labels(["fox", "owl"]), comparing.read_labels(["owl", "fox", 1])
    assert comparing.labels_distance(one, one) == 0
    assert comparing.labels_distance(one, other) == pytest.approx(1 - 2 / 3 * 2 / 3)
    assert comparing.labels_distance(comparing.read_labels([1]), comparing.read_labels([True])) == 1
    assert comparing.labels_distance(
        comparing.read_labels(["a", "b"]), comparing.read_labels(["b", "c"])
    ) == pytest.approx(1 - 1 / 9)
