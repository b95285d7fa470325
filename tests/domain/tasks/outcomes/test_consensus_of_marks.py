"""What texts and marks of several people say together."""

from __future__ import annotations

import math
import random
import time
from itertools import combinations
from pathlib import Path

import orjson
import pytest

from crowdd.features.results import comparing, comparing_marks, comparing_shapes, comparing_texts, geometry
from crowdd.features.results.comparing_process import compare_task
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
    assert (consensus.value, consensus.confidence) == ([box(0, 0, label="fox")], 2 / 3), "one of three disputes it"
    assert consensus.agreement == pytest.approx(1 / 3)
    tied = comparing_marks.compare_boxes(FIELD, value[1:])
    assert (tied.value, tied.confidence) == ([box(0, 0)], 1 / 2), "as many say one as the other"
    three = [[box(0, 0, label=label)] for label in ("car", "bus", "van")]
    assert comparing_marks.compare_boxes(FIELD, three).confidence == pytest.approx(1 / 3)


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


def point(x, y=0.0):
    return {"x": x, "y": y}


def test_a_point_near_the_first_corner_is_one_for_all_hands():
    """Of a single small one, 2 % of the diagonal is less than a hand is exact; in other units than pixels nobody knows."""
    hands = [{"x": 60 + by, "y": 40 - by} for by in (0, 3, -3)]
    for kind, compare in (("points", comparing_marks.compare_points), ("lines", comparing_shapes.compare_lines)):
        marks = [one if kind == "points" else {"points": [[one["x"], one["y"]], [one["y"], one["x"]]]} for one in hands]
        field = AnswerField("n", ("n",), kind)
        assert not compare(field, [[mark] for mark in marks]).value
        assert len(compare(field, [[{**mark, "selector": {}}] for mark in marks]).value) == 1


def test_close_marks_of_one_person_stay_apart():
    """Cells or cars in a row, closer to each other than the tolerance: as many as each person has marked."""
    near = AnswerField("n", (), "points", tolerance=10)
    row = [100 + 8 * nth for nth in range(12)]
    chance = random.Random(7)
    for people in (2, 3, 5, 8):
        answers = [[point(x + chance.uniform(-1, 1)) for x in row] for _ in range(people)]
        for answer in answers:
            chance.shuffle(answer)
        consensus = comparing_marks.compare_points(near, answers)
        assert sorted(one["x"] for one in consensus.value) == pytest.approx(row, abs=1)
        assert consensus.confidence == 1
    # One has missed the first mark, another has made one more.
    answers = [[point(x) for x in row], [point(x) for x in row[1:]], [point(x) for x in [*row, 200]]]
    consensus = comparing_marks.compare_points(near, answers)
    assert [one["x"] for one in consensus.value] == row
    assert consensus.confidence == pytest.approx((11 + 2 / 3) / 12)
    boxes = [[box(0, 0, 100, 100), box(8, 0, 100, 100)]] * 3
    assert geometry.box_iou((0, 0, 100, 100), (8, 0, 108, 100)) > 0.8
    assert comparing_marks.compare_boxes(FIELD, boxes).value == boxes[0]


def test_each_mark_of_a_person_is_in_one_cluster_and_each_cluster_has_one_of_a_person():
    chance = random.Random(4)
    for _ in range(100):
        n = chance.randint(2, 7)
        answers = [
            [
                ((chance.uniform(0, 9), chance.uniform(0, 3)), chance.choice(["", '"a"']))
                for _ in range(chance.randint(0, 6))
            ]
            for _ in range(n)
        ]
        marks = comparing.list_marks(answers)
        near = comparing.find_near_marks(
            marks, lambda at: at[0] + 1.01, lambda one, other: max(0.0, 1.01 - math.dist(one, other))
        )
        for nth, others in enumerate(near):
            assert {*others} == {
                other
                for other, mark in enumerate(marks)
                if mark.person != marks[nth].person and math.dist(mark.place, marks[nth].place) < 1.01
            }
        clusters = comparing._Clusters(near)
        clusters_of = comparing.find_clusters(marks, near, range(n))
        needed = max(2, math.ceil(n / 2))
        assert all(1 <= one.people <= n for one in clusters_of)
        assert len(clusters_of) <= len(marks) / needed
        # The same, step by step.
        for person in range(n):
            own = [nth for nth, mark in enumerate(marks) if mark.person == person]
            for nth in clusters.join(own):
                clusters.begin(nth)
            members = sorted(nth for each in clusters.members for nth in each)
            assert members == [nth for nth, mark in enumerate(marks) if mark.person <= person], "each is in one"
        for each in clusters.members:
            people = [marks[nth].person for nth in each]
            assert len(set(people)) == len(people)


def test_the_order_of_answers_hardly_matters():
    """Marks that are clearly apart have the same clusters in any order."""
    chance = random.Random(12)
    field = AnswerField("n", (), "points", tolerance=5)
    for _ in range(30):
        places = [(20 * nth, 20 * chance.randint(0, 3)) for nth in range(8)]
        answers = [[point(x + chance.uniform(-2, 2), y) for x, y in places if chance.random() < 0.8] for _ in range(5)]
        first = comparing_marks.compare_points(field, answers)
        chance.shuffle(answers)
        again = comparing_marks.compare_points(field, answers)
        assert sorted((one["x"], one["y"]) for one in again.value) == sorted(
            (one["x"], one["y"]) for one in first.value
        )
        assert again.confidence == pytest.approx(first.confidence)


SAME = {
    "text": ["Straße  7 ", ""],
    "boxes": [[box(1 / 3, 0), box(1 / 3, 0), box(0, 0, label="x")], [box(5, 5, -3, 4)], []],
    "points": [[point(0.1), point(0.1), point(3)], []],
    "polygon": [[[0, 0], [1 / 3, 0], [1, 1], [0.2, 0.9]], [{"x": 0, "y": 0}, {"x": 9, "y": 0}, {"x": 0, "y": 4}]],
    "spans": [[{"start": 5, "end": 2}, {"start": 3, "end": 9}, {"start": 4, "end": 4}], []],
}


@pytest.mark.parametrize("type_", SAME)
@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_identical_answers_are_their_own_consensus(type_, n):
    for value in SAME[type_]:
        task = compare_task([{"path": "{a}", "type": type_}], [[[value]]] * n, None)
        assert "failure" not in task
        (said,) = task["said"]
        assert (said["value"], said["confidence"], said["agreement"], said["answers"]) == (value, 1, 1, n)


def test_many_marks_are_compared_in_a_second():
    """Twenty people with 200 boxes each; with the alpha of the same answers, which follows from the same distances."""
    chance = random.Random(1)
    places = [(chance.uniform(0, 1000), chance.uniform(0, 1000)) for _ in range(200)]
    answers = [[[[box(x + chance.gauss(0, 2), y + chance.gauss(0, 2), 40, 40) for x, y in places]]] for _ in range(20)]
    began = time.process_time()
    compared = compare_task([{"path": "{a}", "type": "boxes"}], answers, None)
    assert time.process_time() - began < 3, "about half a second alone; by all pairs it was eight"
    assert len(compared["said"][0]["value"]) == 200
    observed = 1 - compared["said"][0]["agreement"]
    assert float(compared["alpha"][0]["observed"]) == pytest.approx(20 * observed)


def test_areas_are_drawn_once():
    chance = random.Random(3)

    def round_one():
        turns = [2 * math.pi * nth / 40 for nth in range(40)]
        return [[500 + chance.gauss(300, 5) * math.cos(turn), 500 + 300 * math.sin(turn)] for turn in turns]

    tasks = [[[[round_one()]] for _ in range(5)] for _ in range(20)]
    compare_task([{"path": "{a}", "type": "polygon"}], tasks[0], None)
    began = time.process_time()
    for answers in tasks:
        compare_task([{"path": "{a}", "type": "polygon"}], answers, None)
    assert (time.process_time() - began) / len(tasks) < 0.045, "about 10 ms alone; it was 150"


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
        needed = min(n, max(2, math.ceil(n / 2)))
        assert got == {each for one in sets for each in one if sum(each in other for other in sets) >= needed}
        shares = [len(one & got) / len(one | got) if one | got else 1 for one in sets]
        assert consensus.confidence == pytest.approx(sum(shares) / n)


def test_of_two_people_only_what_both_mark_is_marked():
    """A part that one of two has marked is disputed: it is not a consensus."""
    two = [[{"start": 0, "end": 6}], [{"start": 4, "end": 8}]]
    assert said(comparing_texts.compare_spans(FIELD, two)) == ([{"start": 4, "end": 6}], 2, 0.4, 0.4167)
    apart = [[{"start": 0, "end": 3}], [{"start": 5, "end": 8}]]
    assert said(comparing_texts.compare_spans(FIELD, apart)) == ([], 2, 0, 0)
    backwards = [[{"start": 8, "end": 2}], [{"start": 2, "end": 8}], [{"start": 2, "end": 8}]]
    assert said(comparing_texts.compare_spans(FIELD, backwards)) == ([{"start": 2, "end": 8}], 3, 1, 1)


def test_areas_that_differ_are_a_dispute():
    huge, tiny = ([[x * side, y * side] for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))] for side in (1000, 1))
    left, right = ([[x + at, y] for x, y in ((0, 0), (100, 0), (100, 100), (0, 100))] for at in (0, 300))
    for values in ([huge, tiny], [left, right], [left, left, right, right]):
        consensus = comparing_marks.compare_polygons(FIELD, values)
        assert (consensus.won, consensus.value, consensus.confidence) == (False, None, None), values
        assert consensus.agreement < 0.4 and consensus.n == len(values)
    near = [[x + 10, y] for x, y in left]
    consensus = comparing_marks.compare_polygons(FIELD, [left, near])
    assert consensus.won and area_iou(consensus.value, [[10, 0], [100, 0], [100, 100], [10, 100]]) > 0.97
    assert consensus.confidence == pytest.approx(0.9, abs=0.01), "what both cover, of what each does"


def test_an_area_is_what_most_of_the_people_cover():
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
