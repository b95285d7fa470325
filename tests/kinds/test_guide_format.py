"""Guides as data: each rule of the formats with a document that holds and one that is refused, and the schemas."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator
from support.questions.guide_documents import QUESTIONS, field_guide, tutorial

from crowdd.kinds.guides import FIELD_GUIDE, TUTORIAL, Guide, broken_references

Json = dict[str, Any]
Change = Callable[[Json], object]
SCHEMAS = {guide.name: Draft202012Validator(guide.schema()) for guide in (TUTORIAL, FIELD_GUIDE)}
DOCUMENTS = {TUTORIAL.name: tutorial, FIELD_GUIDE.name: field_guide}


def step(nth: int, **parts: Any) -> Change:
    return lambda document: document["steps"][nth].update(parts)


def entry(nth: int, **parts: Any) -> Change:
    return lambda document: document["entries"][nth].update(parts)


def picture(**parts: Any) -> Change:
    return entry(0, pictures=[{"url": "/uploads/project-1/a.png", **parts}])


def known(**parts: Any) -> Change:
    return lambda document: document["steps"][3]["practice"][0].update(parts)


def repeated(**parts: Any) -> Change:
    return lambda document: document["steps"][3]["practice"].append({"question": "animal", "answers": [1]} | parts)


HOLDS: list[tuple[Guide, Change]] = [
    (TUTORIAL, lambda document: document.update(edition=7)),
    (TUTORIAL, lambda document: document.update(steps=document["steps"][:1], tasks=[])),
    (TUTORIAL, step(0, task="sample")),
    (TUTORIAL, step(1, highlight={"medium": "photo"})),
    (TUTORIAL, known(answers=[None, ["fox"], {"a": 1}, 3, "text"], tolerance=0.5)),
    (TUTORIAL, repeated(question="other")),
    (FIELD_GUIDE, lambda document: document["entries"].extend({"name": f"e{n}", "title": "E"} for n in range(297))),
    (FIELD_GUIDE, entry(0, text={"en": "x" * 10_000})),
    (FIELD_GUIDE, picture(description={"de": "Fuchs"}, credit="Ada")),
]
# The guide, the place, words of the sentence, the change, and whether the JSON Schema says it, too.
REFUSED: list[tuple[Guide, str, str, Change, bool]] = [
    (TUTORIAL, "/version", "version of the format", lambda document: document.update(version=2), True),
    (TUTORIAL, "/more", "not known", lambda document: document.update(more=1), True),
    (TUTORIAL, "/edition", "whole number", lambda document: document.update(edition=0), True),
    (TUTORIAL, "/steps", "List 1 to 30", lambda document: document.update(steps=[]), True),
    (TUTORIAL, "/tasks/0/info", "an object", lambda document: document["tasks"][0].update(info=[]), True),
    (TUTORIAL, "/steps/1/name", "used twice", step(1, name="welcome"), False),
    (TUTORIAL, "/steps/1/name", "A name has", step(1, name="Über"), True),
    (TUTORIAL, "/steps/0/title", "Write a text", step(0, title=" "), False),
    (TUTORIAL, "/steps/0/text", "at most 10000", step(0, text="x" * 10_001), True),
    (TUTORIAL, "/steps/0/title/xx_1", "language tag", step(0, title={"xx_1": "?"}), True),
    (TUTORIAL, "/steps/1/task", "not defined", step(1, task="none"), False),
    (TUTORIAL, "/steps/1/highlight", "“medium” is missing", step(1, highlight={}), True),
    (TUTORIAL, "/steps/1/highlight/medium", "not known", step(1, highlight={"question": "a", "medium": "b"}), True),
    (TUTORIAL, "/steps/2/highlight/rectangle/x", "a number", step(2, highlight={"medium": "a", "rectangle": dict.fromkeys(("x", "y", "width", "height"), -1)}), True),
    (TUTORIAL, "/steps/3/highlight", "no highlighted", step(3, highlight={"question": "animal"}), False),
    (TUTORIAL, "/steps/3/practice", "needs a sample task", lambda document: document.update(tasks=[]), False),
    (TUTORIAL, "/steps/3/practice", "List 1 to 50", step(3, practice=[]), True),
    (TUTORIAL, "/steps/3/practice/0/answers", "List 1 to 20", known(answers=[]), True),
    (TUTORIAL, "/steps/3/practice/0/answers/0", "20000 bytes", known(answers=["x" * 20_001]), False),
    (TUTORIAL, "/steps/3/practice/0/tolerance", "a number", known(tolerance=-1), True),
    (TUTORIAL, "/steps/3/practice/1/question", "used twice", repeated(), False),
    (TUTORIAL, "/steps/0/picture/url", "uploaded picture", step(0, picture={"url": "https://elsewhere.example/a.png"}), True),
    (FIELD_GUIDE, "/entries", "List 1 to 300", lambda document: document.update(entries=[]), True),
    (FIELD_GUIDE, "/entries/0/group", "not defined", entry(0, group="fish"), False),
    (FIELD_GUIDE, "/entries/1/name", "used twice", entry(1, name="fox"), False),
    (FIELD_GUIDE, "/groups/0", "“title” is missing", lambda document: document["groups"][0].pop("title"), True),
    (FIELD_GUIDE, "/entries/0/pictures", "List 0 to 10", entry(0, pictures=[{"url": "/uploads/a"}] * 11), True),
    (FIELD_GUIDE, "/entries/0/pictures/0/url", "uploaded picture", picture(url="/uploads/../api/x"), True),
    (FIELD_GUIDE, "/entries/0/pictures/0/url", "uploaded picture", picture(url="/account/signout"), True),
]  # fmt: skip


@pytest.mark.parametrize(("guide", "change"), HOLDS)
def test_each_rule_holds_for_documents_within_it(guide: Guide, change: Change) -> None:
    document = copy.deepcopy(DOCUMENTS[guide.name]())
    assert guide.validate(document) == [] and SCHEMAS[guide.name].is_valid(document)
    change(document)
    assert guide.validate(document) == []
    assert list(SCHEMAS[guide.name].iter_errors(document)) == []


@pytest.mark.parametrize(("guide", "path", "words", "change", "by_schema"), REFUSED)
def test_each_rule_refuses_with_a_place(guide: Guide, path: str, words: str, change: Change, by_schema: bool) -> None:
    document = copy.deepcopy(DOCUMENTS[guide.name]())
    change(document)
    problems = [problem for problem in guide.validate(document) if problem.path == path]
    assert problems and words in problems[0].sentence, guide.validate(document)
    assert (not SCHEMAS[guide.name].is_valid(document)) == by_schema


def test_what_is_no_document_is_refused() -> None:
    for guide in (TUTORIAL, FIELD_GUIDE):
        for document in ([], "x", 3, None, {"version": 1}, {"steps": 3, "entries": 3}, {"version": 1, "tasks": {}}):
            assert guide.validate(document), document
        assert "bytes" in guide.validate({"x": "y" * guide.max_bytes})[0].sentence
        assert guide.validate({"x": {1}})[0].sentence == "This is not JSON."
    many = {"version": 1, "entries": [{"name": "?", "title": ""}] * 300}
    assert len(FIELD_GUIDE.validate(many)) == 100, "the first hundred"


def test_what_the_questions_lack_is_named() -> None:
    assert broken_references(tutorial(), QUESTIONS) == []
    assert [problem.path for problem in broken_references(tutorial(), None)] == [
        "/steps/1/highlight/question",
        "/steps/2/highlight/medium",
        "/steps/3/practice/0/question",
    ]
    document = tutorial()
    document["steps"][3]["practice"][0]["answers"] = ["fox", "wolf", None]
    assert [problem.path for problem in broken_references(document, QUESTIONS)] == [
        "/steps/3/practice/0/answers/1",
        "/steps/3/practice/0/answers/2",
    ]
