"""Questions as data: each rule of the format with a document that holds and one that is refused, and the schemas."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator
from support.questions.marked_lists import every_mark
from support.questions.question_lists import CHOICES, FILES, ONE, every_form

from crowdd.kinds.answers import derived, of_questions
from crowdd.kinds.questions import MEDIA, TYPES, answer_schema, document_schema, validate

PLAIN = [{"value": each["value"], "text": each["text"]} for each in CHOICES]
ROOT = Path(__file__).parents[2]
Json = dict[str, Any]
Change = Callable[[Json], object]
SCHEMA = Draft202012Validator(document_schema())


def with_question(question: Json) -> Json:
    return {"version": 1, "steps": [{"name": "only", "questions": [{"name": "q", "text": "?"} | question]}]}


def changed(change: Change) -> Json:
    document = copy.deepcopy(every_form())
    change(document)
    return document


def many(n: int) -> list[Json]:
    return [{"name": f"q{n}", "type": "yes_no", "text": "?"} for n in range(n)]


def question(document: Json, name: str) -> Json:
    entry: Json = next(q for step in document["steps"] for q in step.get("questions", []) if q["name"] == name)
    return entry


def set_in(name: str, **values: Any) -> Change:
    """Changes a question."""
    return lambda document: question(document, name).update(values)


def on_step(nth: int, **values: Any) -> Change:
    return lambda document: document["steps"][nth].update(values)


@pytest.mark.parametrize("document", [every_form(), ONE])
def test_good_documents_have_no_problems(document: Json) -> None:
    assert validate(document) == [] and list(SCHEMA.iter_errors(document)) == []


PLAIN_TWO: list[Json] = [{"value": value, "text": value} for value in ("grey", "white")]
HOLDS: list[Change] = [
    set_in("story", help={"en": "Read it.", "de": "Lies es."}),
    set_in("story", text={"pt-BR": "O quê?"}),
    set_in("clear", min=-2, max=2),
    set_in("age", show_if=[{"question": "young", "is": [True]}, {"question": "animal", "is": ["owl"]}]),
    set_in("name", show_if={"question": "age", "is": [3, 4.5]}),
    set_in("colours", max=3),
    set_in("animal", suggest={"column": "guess"}),
    set_in("animal", suggest={"model": "yolo", "hidden_share": 0.25}),
    set_in("animal", unsure={"en": "No idea"}),
    lambda document: document["steps"].append({"name": "end", "media": []}),
    lambda document: document["steps"].extend({"name": f"s{n}"} for n in range(46)),
    lambda document: document["steps"].append({"name": "more", "questions": many(187)}),
    set_in("animal", choices=[{"value": str(n), "text": "?"} for n in range(500)], show_if=None),
    set_in("colours", choices=[CHOICES[0], *PLAIN_TWO], show_if={"question": "animal", "is": ["owl"]}),
]


@pytest.mark.parametrize("change", HOLDS)
def test_what_is_allowed_holds(change: Change) -> None:
    document = changed(change)
    document["steps"][3].pop("show_if")  # it names an answer that one of the changes takes away
    assert validate(document) == [] and list(SCHEMA.iter_errors(document)) == []


def refused(path: str, words: str, change: Change, *, by_schema: bool = True) -> Any:
    """``by_schema``: whether the JSON Schema can say it, too."""
    return pytest.param(path, words, change, by_schema, id=f"{path} {words}"[:60])


LOOK = "/steps/0/questions"
REFUSED = [
    refused("/version", "1", lambda d: d.update(version=2)),
    refused("", "“steps”", lambda d: d.pop("steps")),
    refused("/colour", "not known", lambda d: d.update(colour="red")),
    refused("/steps", "1 to 50", lambda d: d.update(steps=[])),
    refused("/steps", "1 to 50", lambda d: d.update(steps=[{"name": f"s{n}"} for n in range(51)])),
    refused("/steps", "at least one", lambda d: d.update(steps=[{"name": "a"}]), by_schema=False),
    refused(
        "/steps", "at most 200", lambda d: d["steps"].append({"name": "x", "questions": many(188)}), by_schema=False
    ),
    refused(f"{LOOK}/0/suggest", "Name a column", lambda d: d["steps"][0]["questions"][0].update(suggest={})),
    refused(
        f"{LOOK}/0/suggest",
        "or a model",
        lambda d: d["steps"][0]["questions"][0].update(suggest={"column": "a", "model": "b"}),
    ),
    refused(
        f"{LOOK}/0/suggest/hidden_share",
        "from 0 to 1",
        lambda d: d["steps"][0]["questions"][0].update(suggest={"column": "a", "hidden_share": 2}),
    ),
    refused("/steps/0", "an object", lambda d: d.update(steps=["x"])),
    refused("/steps/0/name", "lower-case", on_step(0, name="Look")),
    refused("/steps/0/name", "lower-case", on_step(0, name="x" * 41)),
    refused("/steps/0/name", "reserved", on_step(0, name="questions_version")),
    refused("/steps/1/name", "twice", on_step(1, name="look"), by_schema=False),
    refused("/steps/0/title", "Write a text", on_step(0, title=" "), by_schema=False),
    refused("/steps/0/title", "at most 2000", on_step(0, title="x" * 2001)),
    refused("/steps/0/title", "languages", on_step(0, title={})),
    refused("/steps/0/title/english", "language tag", on_step(0, title={"english": "x"})),
    refused(
        "/steps/0/show_if/question",
        "comes before",
        on_step(0, show_if={"question": "sly", "is": [True]}),
        by_schema=False,
    ),
    refused("/steps/3/show_if", "at most 10", on_step(3, show_if=[{"question": "animal", "is": ["fox"]}] * 11)),
    refused("/steps/3/show_if/is", "1 to 500", on_step(3, show_if={"question": "animal", "is": []})),
    refused(
        "/steps/3/show_if/is/0", "never", on_step(3, show_if={"question": "animal", "is": ["elk"]}), by_schema=False
    ),
    refused("/steps/3/show_if/is/0", "never", on_step(3, show_if={"question": "clear", "is": [None]}), by_schema=False),
    refused("/steps/3/show_if/is/0", "never", on_step(3, show_if={"question": "young", "is": [1]}), by_schema=False),
    refused(
        "/steps/3/show_if/question",
        "Nothing can",
        on_step(3, show_if={"question": "story", "is": ["x"]}),
        by_schema=False,
    ),
    refused("/steps/3/show_if", "“is”", on_step(3, show_if={"question": "animal"})),
    refused("/steps/0/media", "at most 20", on_step(0, media=[{}] * 21)),
    refused("/steps/0/media/0/type", "one of", on_step(0, media=[{"name": "m", "type": "smell"}])),
    refused("/steps/0/media/0/type", "each page becomes a picture", on_step(0, media=[{"name": "m", "type": "pdf"}])),
    refused("/steps/0/media/0", "“source”", on_step(0, media=[{"name": "m", "type": "picture"}])),
    refused("/steps/0/media/0/source", "column", on_step(0, media=[{"name": "m", "type": "text", "source": "x"}])),
    refused(
        "/steps/0/media/0/source/url",
        "web address",
        on_step(0, media=[{"name": "m", "type": "sound", "source": {"url": "javascript:alert(1)"}}]),
    ),
    refused("/steps/0/media/0/source", "sources", on_step(0, media=[{"name": "m", "type": "pictures", "source": []}])),
    refused(LOOK, "at most 200", on_step(0, questions="x")),
    refused(f"{LOOK}/0/type", "one of", set_in("animal", type="radio")),
    refused(f"{LOOK}/0", "“text”", lambda d: question(d, "animal").pop("text")),
    refused(f"{LOOK}/0", "“choices”", lambda d: question(d, "animal").pop("choices")),
    refused(f"{LOOK}/0/choises", "not known", set_in("animal", choises=[])),
    refused(f"{LOOK}/0/on", "not known", set_in("animal", on="photo")),
    refused(f"{LOOK}/0/required", "true or false", set_in("animal", required="yes")),
    refused(f"{LOOK}/0/help/picture", "web address", set_in("animal", help={"picture": "x.png"})),
    refused(f"{LOOK}/0/choices", "2 to 500", set_in("animal", choices=CHOICES[:1])),
    refused(
        f"{LOOK}/0/choices", "2 to 500", set_in("animal", choices=[{"value": str(n), "text": "?"} for n in range(501)])
    ),
    refused(f"{LOOK}/0/choices/1/value", "Two entries", set_in("animal", choices=[CHOICES[0]] * 2), by_schema=False),
    refused(f"{LOOK}/0/choices/0/value", "1 to 200", set_in("animal", choices=[{"value": 1, "text": "x"}, CHOICES[0]])),
    refused(f"{LOOK}/0/choices/0/key", "a to z", set_in("animal", choices=[CHOICES[0] | {"key": "F1"}, CHOICES[1]])),
    refused(f"{LOOK}/0/choices/0/key", "belongs", set_in("animal", choices=[CHOICES[0] | {"key": "s"}, CHOICES[1]])),
    refused(
        f"{LOOK}/0/choices/1/key",
        "have the key",
        set_in("animal", choices=[CHOICES[0], CHOICES[1] | {"key": "f"}]),
        by_schema=False,
    ),
    refused(
        f"{LOOK}/1/choices/0/key",
        "belongs to the question “animal”",
        set_in("colours", choices=[CHOICES[0], *PLAIN_TWO]),
        by_schema=False,
    ),
    refused(f"{LOOK}/1/min", "only 3", set_in("colours", min=4), by_schema=False),
    refused(f"{LOOK}/1/max", "less than", set_in("colours", max=1), by_schema=False),
    refused(f"{LOOK}/3/min", "a number", set_in("age", min="0")),
    refused(f"{LOOK}/3/max", "less than", set_in("age", max=-1), by_schema=False),
    refused("/steps/1/questions/0/max", "higher than", set_in("clear", max=1), by_schema=False),
    refused("/steps/1/questions/0", "at most 100", set_in("clear", max=200), by_schema=False),
    refused("/steps/1/questions/0", "end exactly at", set_in("clear", step=3), by_schema=False),
    refused("/steps/1/questions/2/max_length", "1 to 500", set_in("name", max_length=501)),
    refused("/steps/1/questions/4/min", "a day", set_in("day", min="2024-02-30"), by_schema=False),
    refused("/steps/1/questions/4/max", "less than", set_in("day", max="2019-01-01"), by_schema=False),
    refused("/steps/2/questions/0/choices", "2 to 500", set_in("first", choices=CHOICES[:1])),
    refused("/steps/2/questions/1/columns", "2 to 500", set_in("habits", columns=CHOICES[:1])),
]


@pytest.mark.parametrize(("path", "words", "change", "by_schema"), REFUSED)
def test_each_rule_refuses_with_a_place_and_a_sentence(path: str, words: str, change: Change, by_schema: bool) -> None:
    document = changed(change)
    problems = validate(document)
    assert any(each.path == path and words in each.sentence for each in problems), problems
    assert bool(list(SCHEMA.iter_errors(document))) == by_schema


@pytest.mark.parametrize("document", [None, [], "x", 5, {"version": 1, "steps": {}}, {"version": 1, "steps": [None]}])
def test_what_is_no_document_at_all_is_refused(document: object) -> None:
    assert validate(document)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "fox", "look", "animal", "yes_no"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["value", "is", "name", "x"]), inner),
    max_leaves=4,
)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_part_may_be_anything_and_what_is_accepted_can_be_used(data: Any) -> None:
    document = every_form()
    place: Any = document
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(JUNK)
    if validate(document) == []:
        assert list(SCHEMA.iter_errors(document)) == []
        Draft202012Validator(answer_schema(document))
        assert of_questions(document)


def test_a_large_document_is_refused_by_its_size_and_a_broken_one_has_a_bounded_list() -> None:
    (one,) = validate(changed(lambda d: d.update(more="x" * 256_000)))
    assert one.path == "" and "256000" in one.sentence
    assert len(validate({"version": 1, "steps": [{f"p{n}": 1 for n in range(5000)}]})) == 100


def test_the_declaration_of_answers_follows_the_questions() -> None:
    fields = {each["name"]: each for each in of_questions(every_form())}
    assert list(fields)[:3] == ["animal", "colours", "young"] and len(fields) == 10
    animal = {"name": "animal", "at": "/animal", "type": "label", "choices": ["fox", "owl", None], "unsure": None}
    assert fields["animal"] == animal and fields["colours"]["type"] == "labels" and "choices" not in fields["story"]
    assert fields["young"]["choices"][:2] == [True, False]


def test_the_version_grows_with_each_change_of_the_questions_only() -> None:
    first = {"questions": ONE} | derived({}, {"questions": ONE})
    assert (first["questions_version"], first["answer_key"]) == (1, "animal")
    same = derived(first, {"questions": ONE, "questions_version": 70, "answer_key": "x", "sched": "default"})
    assert same["questions_version"] == 1 and same["answer_key"] == "animal"
    assert derived(first, {"questions": every_form()})["questions_version"] == 2
    without = {name: value for name, value in first.items() if name != "questions"}
    assert derived(first, without) == {} and derived(without, {"questions": ONE})["questions_version"] == 2
    assert derived({"questions_version": "x"}, {"questions": ONE})["questions_version"] == 1


PHOTO: Json = {"file": f"/answer-files/{'0' * 40}", "kind": "picture", "bytes": 9}
SOUND: Json = {**PHOTO, "kind": "sound"}
ANSWERS: list[tuple[Json, list[Any], list[Any]]] = [
    ({"type": "single_choice", "choices": CHOICES, "unsure": True}, ["fox", None], ["elk", ["fox"], True]),
    ({"type": "single_choice", "choices": CHOICES}, ["owl"], [None]),
    ({"type": "multiple_choice", "choices": CHOICES, "max": 1}, [["fox"]], [[], ["fox", "owl"], "fox", None]),
    ({"type": "yes_no", "unsure": "?"}, [True, False, None], ["yes", 1]),
    ({"type": "rating", "min": 0, "max": 10, "step": 5}, [0, 5, 10], [1, 11, "5", 5.5]),
    ({"type": "number", "min": 0}, [0, 2.5], [-1, "2"]),
    ({"type": "number", "whole": True}, [-3], [2.5]),
    ({"type": "short_text", "max_length": 3}, ["abc"], ["", "abcd", 3]),
    ({"type": "long_text"}, ["a\nb", "x" * 10_000], ["x" * 10_001]),
    ({"type": "date"}, ["2026-02-28"], ["28.2.2026", 2026, "2026-02", "2026"]),
    (
        {"type": "date", "partial": True},
        ["2026-02-28", "1834-05", "1834"],
        ["1834-13", "1834-00", "834", 1834, "1834-05-"],
    ),
    ({"type": "file"}, [[SOUND]], [[], [SOUND, SOUND], [{"file": "x", "kind": "sound"}], SOUND]),
    ({"type": "file", "picture": True, "max": 2}, [[PHOTO, PHOTO]], [[SOUND], [PHOTO] * 3]),
    ({"type": "ranking", "choices": PLAIN}, [["owl", "fox"]], [["owl"], ["owl", "owl"]]),
    ({"type": "matrix", "rows": PLAIN, "columns": PLAIN}, [{"fox": "owl"}], [{}, {"elk": "owl"}, {"fox": "elk"}]),
    ({"type": "matrix", "rows": PLAIN, "columns": PLAIN, "required": True}, [{"fox": "owl", "owl": "owl"}], [{"fox": "owl"}]),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "good", "bad"), ANSWERS)
def test_an_answer_has_the_schema_of_its_question(asked: Json, good: list[Any], bad: list[Any]) -> None:
    document = with_question(asked)
    assert validate(document) == []
    schema = Draft202012Validator(answer_schema(document))
    assert [value for value in good if not schema.is_valid({"q": value, "questions_version": 1})] == []
    assert [value for value in bad if schema.is_valid({"q": value, "questions_version": 1})] == []
    assert not schema.is_valid({"q": good[0]}) and not schema.is_valid({"q": good[0], "x": 1, "questions_version": 1})


def test_answers_to_required_questions_that_are_always_shown_are_required() -> None:
    needed = answer_schema(every_form())["required"]
    assert needed == ["questions_version", "animal", "clear", "name", "first", "habits"]  # not sly, which foxes have


def test_each_type_is_answered_by_a_module_and_described() -> None:
    loading = (ROOT / "crowdd/http/static/questions/modules.js").read_text()
    for kind in TYPES.values():
        module = kind.module or kind.name
        assert (ROOT / f"crowdd/http/static/questions/types/{module}.js").is_file()
        assert module == kind.name or f'{kind.name}: "{module}"' in loading


def test_the_guide_has_every_type() -> None:
    guide = (ROOT / "docs/projects/questions.md").read_text()
    assert [name for name in (*TYPES, *MEDIA) if f"`{name}`" not in guide] == []


def test_browser_tests_ask_each_type() -> None:
    """By mouse, keys and touch, from right to left, at 200 %, and by name, role and state (tests/browser/presenters)."""
    documents = (every_form(), every_mark(), FILES)
    asked = {question["type"] for one in documents for step in one["steps"] for question in step["questions"]}
    assert asked == {*TYPES}
