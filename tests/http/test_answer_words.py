"""JSON values as words: what a person reads of an answer."""

from __future__ import annotations

import pytest
from babel import Locale

from crowdd.http.html.answer_words import MAX_ITEMS, alone, answer_keys, asked_keys, in_words, lines_of, marks_of


def words(value: object, language: str = "en") -> str:
    return in_words(value, {"Yes": "oui", "No": "non"}.__getitem__, Locale.parse(language))


@pytest.mark.parametrize(
    "value, shown",
    [
        ("Red fox", "Red fox"),
        (1923, "1923"),
        (2.5, "2.5"),
        (0, "0"),
        (True, "oui"),
        (False, "non"),
        (["fox", "owl"], "fox, owl"),
        ({"kind": "fox", "age": 3, "sure": True}, "kind: fox, age: 3, sure: oui"),
        ({"boxes": [{"x": 1}, {"x": 2}]}, "boxes: ((x: 1), (x: 2))"),
        ({"doing": ["rests"], "kinds": ["a", "b"]}, "doing: rests, kinds: (a, b)"),
        ({"seen": None}, "seen: –"),
        (None, "–"),
        ("", "–"),
        ([], "–"),
        ({}, "–"),
        ([0, ""], "0, –"),
    ],
)
def test_json_values_read_as_words(value: object, shown: str) -> None:
    assert words(value) == shown


def test_arabic_has_its_own_comma() -> None:
    assert words(["a", "b"], "ar") == "a، b"


def test_what_is_long_or_deep_is_cut() -> None:
    assert words(list(range(MAX_ITEMS))).endswith(", 19")
    assert words(list(range(MAX_ITEMS + 1))).endswith(", 19, …")
    assert words(["x" * 300]) == "x" * 199 + "…"
    assert words([[[["deep"]]]]) == '["deep"]'


def test_an_answer_with_one_value_is_that_value() -> None:
    assert alone({"answer": None}) is None and alone({"answer": "Fox"}) == "Fox"
    assert alone({"a": 1, "b": 2}) == {"a": 1, "b": 2} and alone({}) == {} and alone("Fox") == "Fox"
    assert alone({"seen": "fox", "questions_version": 2}) == "fox"
    assert alone({"a": 1, "b": 2, "questions_version": 2}) == {"a": 1, "b": 2}


def test_answers_are_columns_of_their_keys_where_all_are_objects() -> None:
    assert answer_keys([{"kind": "fox"}, {"age": 3, "kind": "owl"}]) == ["kind", "age"]
    assert answer_keys([{str(n): n for n in range(9)}]) == [str(n) for n in range(8)]
    assert answer_keys([{"kind": "fox"}, "owl"]) == answer_keys([{}]) == answer_keys([]) == []


def test_columns_of_answers_begin_with_what_was_asked_and_leave_out_the_version_of_the_questions() -> None:
    infos = [{"age": 3, "note": "x", "questions_version": 1}, {"kind": "owl", "questions_version": 1}]
    assert answer_keys(infos, ["kind", "colour", "age"]) == ["kind", "age", "note"]
    assert answer_keys([{"questions_version": 1}]) == []


def test_keys_that_are_asked_are_those_of_answer_fields() -> None:
    fields = [
        {"name": "what", "at": "/kind"},
        {"name": "all", "at": ""},
        {"name": "x", "at": "/box/x"},
        {"at": "/a~1b"},
    ]
    assert asked_keys({"answers": fields}) == ["kind"]
    assert asked_keys({"answers": "kind"}) == asked_keys({}) == asked_keys(None) == []


def test_marks_are_told_by_their_labels_and_texts() -> None:
    boxes = [{"x": 1, "y": 2, "width": 3, "height": 4, "label": "duck"}, {"x": 1, "y": 2, "selector": {}}]
    assert marks_of(boxes) == ["duck", ""] and marks_of([{"points": [[1, 2]]}, {"geometry": {}}]) == ["", ""]
    assert marks_of([{"start": 1, "end": 4, "text": "Mary"}]) == ["Mary"]
    for other in ([], None, "x", {"x": 1, "y": 2}, [{"x": 1}], [{"x": 1, "y": 2}, "fox"], [1, 2]):
        assert marks_of(other) is None, other


def test_lines_of_a_transcription_are_read_as_text() -> None:
    lines = [{"text": "Dear Anna,", "x": 1, "y": 2, "width": 3, "height": 4}, {"text": "it rains", "unsure": [[0, 2]]}]
    assert lines_of(lines) == "Dear Anna, / it rains"
    for other in ([], None, "x", [{"start": 1, "end": 4, "text": "Mary"}], [{"x": 1, "y": 2}], [{"text": 3}], ["x"]):
        assert lines_of(other) is None, other
