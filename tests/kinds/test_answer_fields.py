"""Answer fields: their format, how they are read from answers, what questions declare, and what answers suggest."""

from __future__ import annotations

from typing import Any

import pytest
from support.questions.marked_lists import every_mark
from support.questions.question_lists import ONE

from crowdd.kinds.answers import (
    MAX_FIELDS,
    class_of,
    declared,
    fits,
    number_of,
    of_questions,
    suggest,
    validate,
    with_choices,
)

LABEL = {"name": "species", "at": "/answer", "type": "label", "choices": ["fox", 1, True, None]}


def field(**more: Any) -> Any:
    [entry] = declared({"answers": LABEL | more})
    return entry


def paths(document: object) -> list[str]:
    return [problem.path for problem in validate(document)]


def test_a_list_or_a_single_field_is_declared():
    assert validate(LABEL) == validate([LABEL, LABEL | {"name": "again", "at": ""}]) == []
    assert declared({}) == declared({"answers": "fox"}) == declared({"answers": [LABEL, {"name": "half"}]}) == []
    [entry] = declared({"answers": [{"name": "n", "at": "/a~1b/~0c/0", "type": "number", "min": 0, "tolerance": 0.5}]})
    assert (entry.path, entry.min, entry.max, entry.tolerance) == (("a/b", "~c", "0"), 0, None, 0.5)


@pytest.mark.parametrize(
    ("document", "where"),
    [
        (None, [""]),
        ([], [""]),
        ([LABEL | {"name": str(n)} for n in range(MAX_FIELDS + 1)], [""]),
        ([LABEL, LABEL], ["/1/name"]),
        (["fox"], ["/0"]),
        (LABEL | {"at": "answer"}, ["/at"]),
        (LABEL | {"at": "/boxes/-1"}, ["/at"]),
        (LABEL | {"at": "/a~2"}, ["/at"]),
        (LABEL | {"type": "colour"}, ["/type"]),
        (LABEL | {"type": ["label"]}, ["/type"]),
        (LABEL | {"choices": []}, ["/choices"]),
        (LABEL | {"choices": [{}]}, ["/choices/0"]),
        (LABEL | {"choices": [1, 1.0]}, ["/choices/1"]),
        (LABEL | {"choices": ["x" * 201]}, ["/choices/0"]),
        (LABEL | {"choices": list(range(51))}, ["/choices"]),
        (LABEL | {"min": 1}, ["/min"]),
        ({"name": "n", "at": "/n", "type": "number", "min": 2, "max": 1}, ["/max"]),
        ({"name": "n", "at": "/n", "type": "labels"}, [""]),
        ({"name": " ", "at": "/n", "type": "text"}, ["/name"]),
        ({"name": "n", "at": "/n", "type": "text", "unsure": []}, ["/unsure"]),
    ],
)
def test_what_is_no_list_of_fields_is_refused_at_its_place(document, where):
    assert paths(document) == where


@pytest.mark.parametrize(
    ("info", "number"),
    [
        ({"answer": "fox"}, 1),
        ({"answer": 1.0}, 2),
        ({"answer": True}, 3),
        ({"answer": None}, 4),
        ({"answer": "owl"}, None),
        ({"answer": ["fox"]}, None),
        ({}, None),
        ("fox", None),
        (None, None),
    ],
)
def test_the_class_of_an_answer_is_the_number_of_its_choice(info, number):
    assert class_of(field(), info) == number
    assert fits(field(), info) is (number is not None)


BOX = {"x": 1, "y": 2, "width": 3, "height": 4}


@pytest.mark.parametrize(
    ("declaration", "good", "bad"),
    [
        ({"type": "labels"}, [[], ["fox", None]], [["fox", "fox"], ["owl"], "fox", [[]]]),
        ({"type": "number", "min": 0, "max": 2}, [0, 1.5, 2], [-1, 3, "1", True, None]),
        ({"type": "text"}, ["", "words"], [1, None, []]),
        ({"type": "text", "unsure": None}, ["words", None], [False]),
        ({"type": "boxes", "choices": ["fox"]}, [[], [BOX], [BOX | {"label": "fox"}]], [BOX, [{"x": 1}], [BOX | {"label": "owl"}]]),
        ({"type": "points"}, [[], [{"x": 1, "y": 2, "label": "any"}]], [[1, 2], [{"x": "1", "y": 2}]]),
        ({"type": "polygon"}, [[{"x": n, "y": n * n} for n in range(3)], [[n, n * n] for n in range(3)]],
         [[], [{"x": 1, "y": 2}] * 2, [[1, 2], [2, 3], [4]], [[1, 2], [2, 3], ["4", 5]]]),
        ({"type": "spans"}, [[{"start": 1, "end": 2}]], [[{"start": 1}], None]),
    ],
)  # fmt: skip
def test_values_fit_their_type(declaration, good, bad):
    plain = {name: value for name, value in LABEL.items() if name != "choices" or declaration["type"] == "labels"}
    [entry] = declared({"answers": plain | declaration | {"at": "/deep/0"}})
    assert [value for value in good if not fits(entry, {"deep": [value]})] == []
    assert [value for value in bad if fits(entry, {"deep": [value]})] == []
    assert not fits(entry, {"deep": []}) and not fits(entry, {"deep": {"1": good[0]}})


def test_a_choice_is_the_same_in_another_form():
    (label, labels, boxes, text) = (
        declared({"answers": {"name": "n", "at": "/n", "type": type_, **more}})[0]
        for type_, more in (
            ("label", {"choices": ["Fox", "owl", 1]}),
            ("labels", {"choices": ["Fox", "owl"]}),
            ("boxes", {"choices": ["Fox"]}),
            ("text", {}),
        )
    )
    assert fits(label, {"n": " fox"}) and not fits(label, {"n": "1"}) and with_choices(label, "OWL ") == "owl"
    assert fits(labels, {"n": ["fox", "OWL"]}) and not fits(labels, {"n": ["fox", "FOX"]})
    assert with_choices(labels, ["OWL", "fox"]) == ["owl", "Fox"]
    box = {"x": 0, "y": 0, "width": 1, "height": 1}
    assert fits(boxes, {"n": [box | {"label": "FOX"}]})
    assert with_choices(boxes, [box | {"label": "FOX"}, box]) == [box | {"label": "Fox"}, box]
    assert with_choices(text, " FOX") == " FOX"
    assert number_of(["fox", "Fox"], "Fox") == 2 and number_of(["fox", "Fox"], "FOX") is None


def test_one_area_and_one_line_have_a_field_of_their_own():
    parts = {"text": "?", "on": "photo"}
    photo = {"name": "photo", "type": "picture", "source": {"column": "url"}}
    asked: list[dict[str, Any]] = [
        {"name": "shape", "type": "polygon", "max": 1, "unsure": True, **parts},
        {"name": "shapes", "type": "freehand", "max": 2, **parts},
        {"name": "title", "type": "transcription", "max": 1, **parts},
        {"name": "lines", "type": "transcription", **parts},
        {"name": "edge", "type": "line", "max": 1, **parts},
    ]
    document = {"version": 1, "steps": [{"name": "one", "media": [photo], "questions": asked}]}
    fields = of_questions(document)
    assert fields == [
        {"name": "shape", "at": "/shape/0/points", "type": "polygon", "unsure": None, "nothing": True},
        {"name": "shapes", "at": "/shapes", "type": "areas"},
        {"name": "title", "at": "/title/0/text", "type": "text", "nothing": True},
        {"name": "lines", "at": "/lines", "type": "transcript"},
        {"name": "edge", "at": "/edge", "type": "lines"},
    ]
    shape, _, title, _, _ = declared({"answers": fields})
    assert fits(shape, {"shape": [{"points": [[0, 0], [4, 0], [0, 4]]}]}) and fits(shape, {"shape": None})
    assert fits(title, {"title": [{"text": "A word"}]})
    assert [fits(shape, info) for info in ({"shape": []}, {"shape": [None, 1]}, {}, None)] == [
        True,
        True,
        False,
        False,
    ]
    assert not fits(title, {"title": None}), "this question has no “can't tell”"


def test_questions_declare_their_answers():
    assert of_questions(ONE)[0] == {"name": "animal", "at": "/animal", "type": "label", "choices": ["fox", "owl"]}
    types = {each["name"]: each["type"] for each in of_questions(every_mark())}
    assert types["boxes_box"] == "boxes" and types["words_text_spans"] == "spans" and types["lines_line"] == "lines"
    assert len(of_questions(every_mark())) <= MAX_FIELDS and validate(of_questions(every_mark())) == []
    parts = {"text": "?", "required": True}
    rows, columns = ([{"value": one, "text": one} for one in names] for names in (("a", "b/c"), ("yes", "no")))
    matrix = {"name": "m", "type": "matrix", "rows": rows, "columns": columns, **parts}
    many = {
        "name": "s",
        "type": "single_choice",
        "choices": [{"value": str(n), "text": "x"} for n in range(51)],
        **parts,
    }
    document = {
        "version": 1,
        "steps": [{"name": "one", "questions": [matrix, many, {"name": "r", "type": "rating", **parts}]}],
    }
    assert of_questions(document) == [
        {"name": "m: a", "at": "/m/a", "type": "label", "choices": ["yes", "no"]},
        {"name": "m: b/c", "at": "/m/b~1c", "type": "label", "choices": ["yes", "no"]},
        {"name": "s", "at": "/s", "type": "label"},
        {"name": "r", "at": "/r", "type": "number"},
    ]


def test_what_answers_contain_is_suggested():
    rows = [
        {
            "answer": "fox" if n % 3 else None,
            "seconds": n,
            "note": f"text {n}",
            "deep": {"tags": ["a", "b"][: n % 3], "boxes": [BOX]},
        }
        for n in range(30)
    ] + [{"answer": "owl"}, "whole", 7]
    fields = {one.at: (one.type, one.choices, one.n_present, one.n_fitting) for one in suggest(rows)}
    assert fields["/answer"] == ("label", ["fox", None, "owl"], 31, 31)
    assert fields["/seconds"][:2] == ("number", None) and fields["/note"][:2] == ("text", None)
    assert fields["/deep/tags"] == ("labels", ["a", "b"], 30, 30) and fields["/deep/boxes"][0] == "boxes"
    assert suggest(rows)[0].at == "/answer" and all(validate(one.declaration()) == [] for one in suggest(rows))
    assert suggest([]) == [] and suggest([None, {}, {"a": {"b": {"c": {"d": 1}}}}]) == []
