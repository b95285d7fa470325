"""What a complete task becomes in the next step, by pure functions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdd.features.chains.parts import Part, Source, crop_address, named, wanted_parts
from crowdd.kinds.chains import read_rule

BOXES = [
    {"x": 10, "y": 10, "width": 100, "height": 20, "label": "text"},
    {"x": 10, "y": 40, "width": 90, "height": 20, "label": "text"},
    {"x": 300, "y": 300, "width": 50, "height": 50, "label": "stamp"},
]
PAGE = {"picture": "https://iiif.example/page1/info.json", "secret": 7}


def said(value, agreement=1.0, answers=2):
    return {"value": value, "hash": 1, "answers": answers, "agreement": agreement}


def source(**fields):
    return Source(PAGE, {name: said(value) for name, value in fields.items()})


def infos(rule, of):
    parts = wanted_parts(read_rule(rule), of)
    return None if parts is None else [part.info for part in parts]


def test_each_mark_becomes_a_task_with_its_place_and_what_the_rule_names():
    rule = {"each": {"field": "lines"}, "columns": {"picture": "page"}, "answers": {"kind": "sort"}}
    made = infos(rule, source(lines=BOXES, kind="letter"))
    assert made == [{"page": PAGE["picture"], "sort": "letter", **box} for box in BOXES]
    labelled = infos({"each": {"field": "lines", "label": "stamp"}}, source(lines=BOXES))
    assert labelled == [BOXES[2]]
    whole = infos({"columns": {"picture": "picture", "gone": "gone"}}, source())
    assert whole == [{"picture": PAGE["picture"]}]


def test_a_line_has_the_box_around_it_and_a_span_its_ends():
    line = {"points": [{"x": 5, "y": 9}, {"x": 50, "y": 7}]}
    (made,) = infos({"each": {"field": "lines"}}, source(lines=[line]))
    assert made == {**line, "x": 5, "y": 7, "width": 45, "height": 2}
    place = {"geometry": {"type": "Point", "coordinates": [13.4, 52.5]}, "label": "tree"}
    (made,) = infos({"each": {"field": "places"}}, source(places=[place]))
    assert made == {**place, "x": 13.4, "y": 52.5}
    span = {"start": 4, "end": 9, "label": "name"}
    assert infos({"each": {"field": "names"}}, source(names=[span])) == [span]
    rows = [{"text": "Dear"}, {"text": "Sir"}]
    parts = wanted_parts(read_rule({"each": {"field": "rows"}}), source(rows=rows))
    assert [part.info for part in parts] == rows and [*named(parts, {})] == ["1", "2"]
    assert [*named(parts, {name: part.place for name, part in named(parts, {}).items()})] == ["1", "2"]


@pytest.mark.parametrize(
    ("condition", "value", "met"),
    [
        ({"is": ["yes"]}, "yes", True),
        ({"is": ["no", "yes"]}, "yes", True),
        ({"is": ["yes"]}, "no", False),
        ({"is": [1]}, True, False),
        ({"is": [1]}, 1.0, True),
        ({"is": ["fox"]}, ["owl", "fox"], True),
        ({"is_not": ["yes"]}, "no", True),
        ({"is_not": ["yes"]}, "yes", False),
    ],
)
def test_a_condition_is_about_the_consensus(condition, value, met):
    rule = {"when": [{"field": "q", **condition}]}
    assert infos(rule, source(q=value)) == ([{}] if met else [])


def test_disagreement_goes_to_experts_and_one_answer_is_none():
    rule = read_rule({"when": [{"field": "q", "agreement_below": 0.7}]})
    assert wanted_parts(rule, Source({}, {"q": said("a", 0.5)})) == [Part({})]
    assert wanted_parts(rule, Source({}, {"q": said("a", 0.7)})) == []
    assert wanted_parts(rule, Source({}, {"q": said("a", 0.0, answers=1)})) == []


def test_what_cannot_be_said_yet_is_not_guessed():
    rule = {"each": {"field": "lines"}}
    assert infos(rule, Source({}, {"lines": None})) is None, "still to be compared"
    assert infos(rule, Source({}, {"lines": {"hash": 5, "answers": 2, "agreement": 0.5}})) is None, "too long"
    assert infos(rule, Source({}, {"other": said("x")})) is None, "the question has another name now"
    tied = Source({}, {"lines": {"hash": None, "answers": 2, "agreement": 0.0}})
    assert infos(rule, tied) == []
    assert infos({"answers": {"lines": "text"}}, tied) == [{"text": None}]
    assert infos({"when": [{"field": "lines", "is": ["x"]}]}, tied) == []
    assert infos({"when": [{"field": "lines", "is_not": ["x"]}]}, tied) == [{}]
    assert infos({"each": {"field": "lines"}}, source(lines="no list")) == []
    large = Source({"picture": "x" * 3_000_000}, {"lines": said(BOXES)})
    assert infos({"each": {"field": "lines"}, "columns": {"picture": "picture"}}, large) is None, "nine million bytes"


@pytest.mark.parametrize(
    ("address", "crop"),
    [
        ("https://x.example/a/info.json", "https://x.example/a/10,20,31,41/max/0/default.jpg"),
        ("https://x.example/a/full/full/0/native.png", "https://x.example/a/10,20,31,41/full/0/native.png"),
        ("https://x.example/a/full/max/0/default.jpg", "https://x.example/a/10,20,31,41/max/0/default.jpg"),
        ("https://x.example/a/full/1600,/0/default.jpg", None),
        ("https://x.example/a.jpg", None),
        ("/uploads/a.jpg", None),
    ],
)
def test_a_part_of_a_iiif_image_has_an_address(address, crop):
    assert crop_address(address, (10.2, 20.7, 30.5, 40.0)) == (crop or address)
    rule = {"each": {"field": "lines"}, "crop": {"column": "picture", "to": "line"}}
    (made,) = infos(rule, Source({"picture": address}, {"lines": said([BOXES[0]])}))
    expected = address if crop is None else crop.replace("10,20,31,41", "10,10,100,20")
    assert made["line"] == expected


def places(*boxes):
    rule = read_rule({"each": {"field": "lines"}})
    return wanted_parts(
        rule, source(lines=[dict(zip(("x", "y", "width", "height"), box, strict=True)) for box in boxes])
    )


def test_a_mark_that_moved_a_little_keeps_its_name():
    first = named(places((10, 10, 100, 20), (10, 40, 100, 20)), {})
    earlier = {name: part.place for name, part in first.items()}
    assert [*first] == ["1", "2"]
    again = named(places((12, 43, 98, 20), (500, 500, 9, 9)), earlier)
    assert [(name, part.info["y"]) for name, part in again.items()] == [("2", 43), ("3", 500)]
    assert [*named(places(), earlier)] == []
    assert [*named([Part({})], earlier)] == [""], "the whole task is another thing than its parts"


@given(st.lists(st.tuples(*[st.integers(0, 40)] * 4), max_size=12))
def test_the_same_marks_have_the_same_names(boxes):
    parts = places(*boxes)
    first = named(parts, {})
    assert len(first) == len(parts)
    again = named(parts, {name: part.place for name, part in first.items()})
    assert again == first and [*again] == [*first]
