"""What changed questions mean: what is different, which answers fit, and advice."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator
from support.questions.question_lists import ONE, every_form, every_option

from crowdd.kinds.questions import TYPES, answer_schema
from crowdd.kinds.questions.changes import Change, Fit, changes, count_fits
from crowdd.kinds.questions.declarations import declarations
from crowdd.kinds.questions.question_type import Columns, advice, fits
from crowdd.kinds.questions.validation import validate

Json = dict[str, Any]
GIVEN: list[Any] = [
    None, True, False, 0, 1, 2, -3, 2.0, 2.5, 7, 7.5, 1e300, "", "first", "second", "x" * 600, "2024-02-29", "2024-02-30",
    [], ["first"], ["first", "first"], ["second", "first"], ["first", "second", "ثالث"], [1], {}, {"first": "second"},
    {"first": "first", "second": "first", "ثالث": "second"}, {"first": 1},
    [{"file": f"/answer-files/{'0' * 40}", "kind": "sound", "bytes": 9}], [{"file": "https://elsewhere.example/", "kind": "sound"}],
]  # fmt: skip
BOX = {"x": 1, "y": 2, "width": 3, "height": 4.5, "selector": {"type": "FragmentSelector"}, "label": "first"}
MARKS: list[Any] = [
    BOX,
    BOX | {"label": "other"},
    BOX | {"x": "1"},
    BOX | {"answers": {"e_box": "Ear"}},
    BOX | {"answers": {"e_box": "far too long"}},
    BOX | {"answers": {"another": 1}},
    {"x": 1, "y": 2, "selector": {"type": "SvgSelector"}},
    {"points": [[0, 0], [1, 1]], "selector": {"type": "SvgSelector"}},
    {"points": [[0, 0]], "selector": {"type": "SvgSelector"}},
    {"start": 0, "end": 2, "text": "ab", "selector": {"type": "TextPositionSelector"}},
    {"start": 0, "end": 2.5, "selector": {"type": "FragmentSelector"}},
    {"start": -1, "end": 2.5, "selector": {"type": "FragmentSelector"}},
    {"text": "A line"},
    {"geometry": {"type": "Point", "coordinates": [2.35, 48.85]}},
    {"geometry": {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}},
]


def test_answers_fit_as_the_schema_says() -> None:
    document = every_option(declarations(str))
    properties = answer_schema(document)["properties"]
    outcomes: dict[str, set[bool]] = {}
    for kind in TYPES:
        schema = properties[f"q_{kind}"]
        validator = Draft202012Validator(schema, validate_formats=True)
        for value in [
            *GIVEN,
            *([mark] for mark in MARKS),
            *([mark] * 7 for mark in MARKS),
            *([mark] * 8 for mark in MARKS),
        ]:
            assert fits(schema, value) == validator.is_valid(value), (kind, value)
            if value is not None:
                outcomes.setdefault(kind, set()).add(fits(schema, value))
    assert {kind for kind, verdicts in outcomes.items() if verdicts != {True, False}} == set()


def test_every_option_has_its_words_and_a_document_with_all_of_them_has_no_problems() -> None:
    catalogue = declarations(str)
    for kind in [*catalogue["types"], *catalogue["media"]]:
        assert kind["label"] and kind["sentence"]
        for option in [*kind["options"], *catalogue["common"], *catalogue["step"]]:
            assert option["label"] and option["control"] and option["hint"], (kind["name"], option["name"])
            assert all(part["label"] and part["control"] for part in option["parts"])
    assert {kind["group"] for kind in catalogue["types"]} == {group["name"] for group in catalogue["groups"]}
    assert validate(every_option(catalogue)) == []


def question(document: Json, name: str) -> Json:
    entry: Json = next(q for step in document["steps"] for q in step.get("questions", []) if q["name"] == name)
    return entry


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("animal", {"text": "Which one?", "help": None}, Change("animal", "words")),
        (
            "animal",
            {"choices": [{"value": "owl", "text": "O"}, {"value": "bat", "text": "Bat"}]},
            Change("animal", "choices", ("fox",)),
        ),
        ("animal", {"required": False}, Change("animal", "options")),
        ("young", {"type": "number"}, Change("young", "type")),
        ("clear", {"max": 9}, Change("clear", "options")),
        ("habits", {"rows": [{"value": "day", "text": "By day"}]}, Change("habits", "choices", ("night",))),
    ],
)
def test_what_is_different_between_two_lists(name: str, values: Json, expected: Change) -> None:
    before = every_form()
    after = copy.deepcopy(before)
    question(after, name).update(values)
    assert changes(before, after) == [expected]
    assert changes(before, before) == []


def test_new_and_removed_questions_and_the_answers_that_fit() -> None:
    before = every_form()
    after = copy.deepcopy(before)
    after["steps"].pop()
    after["steps"][0]["questions"].append({"name": "sex", "type": "yes_no", "text": "?"})
    question(after, "age")["max"] = 5
    assert changes(before, after) == [Change("age", "options"), Change("sex", "new"), Change("sly", "removed")]
    answers = [{"age": 3, "sly": True}, {"age": 9}, {"animal": "fox"}, "no object", {"age": "3"}]
    assert count_fits(after, answers, ["age", "sly", "sex"]) == [Fit("age", 3, 2), Fit("sly", 1, 1)]


def test_advice_names_columns_without_values_and_keys_of_two_questions() -> None:
    assert advice(ONE, Columns(0, {})) == [] == advice(ONE, Columns(3, {"url_b": 3}))
    [some] = advice(ONE, Columns(3, {"url_b": 2}))
    assert some.path == "/steps/0/media/0/source/column" and "one has nothing in the column “url_b”" in some.sentence
    [none] = advice(ONE, Columns(3, {"link": 3}))
    assert none.sentence == "None of 3 checked tasks has the column “url_b”."
    twice = copy.deepcopy(ONE)
    twice["steps"][0]["questions"].append(twice["steps"][0]["questions"][0] | {"name": "other"})
    assert [each.path for each in advice(twice, Columns(0, {}))] == [
        "/steps/0/questions/1/choices/0/key",
        "/steps/0/questions/1/choices/1/key",
    ]
