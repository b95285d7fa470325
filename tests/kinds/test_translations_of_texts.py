"""Which texts of a project can be translated, what is missing or outdated, and what readers of a language get."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from support.questions.guide_documents import field_guide, tutorial

from crowdd.kernel.languages.content_languages import is_tag
from crowdd.kinds.guides import FIELD_GUIDE, TUTORIAL
from crowdd.kinds.questions import validate
from crowdd.kinds.translations import Translated, count_states, digest_of, source_texts, translated

QUESTIONS: dict[str, Any] = {
    "version": 1,
    "steps": [
        {
            "name": "look",
            "title": "Look closely",
            "media": [{"name": "photo", "type": "picture", "source": {"column": "url"}, "description": "A pond"}],
            "questions": [
                {
                    "name": "animal",
                    "type": "single_choice",
                    "text": "Which animal?",
                    "help": {"text": "The largest one", "picture": "/uploads/a.png"},
                    "unsure": True,
                    "choices": [
                        {"value": "duck", "text": {"en": "Duck", "de": "Ente"}},
                        {"value": "a/b", "text": "Both"},
                    ],
                },
                {"name": "size", "type": "number", "text": "How large?", "unit": "cm", "unsure": "No idea"},
            ],
        },
        {"name": "end", "questions": [{"name": "ok", "type": "yes_no", "text": "Is it alive?"}]},
    ],
}
KEYS = [
    "project/name",
    "project/description",
    "questions/look/title",
    "questions/photo/description",
    "questions/animal/text",
    "questions/animal/help/text",
    "questions/animal/choices/duck/text",
    "questions/animal/choices/a~1b/text",
    "questions/size/text",
    "questions/size/unit",
    "questions/size/unsure",
    "questions/ok/text",
]


def pond(**more: Any) -> dict[str, Any]:
    """A project in English."""
    texts = {"name": "Pond", "description": "Animals of a pond", "long_description": ""}
    return {**texts, "info": {"language": "en", "questions": copy.deepcopy(QUESTIONS)}, **more}


def german(project: dict[str, Any], **words: str) -> dict[str, Translated]:
    """A translation of texts by their keys, made now."""
    texts = {text.key: text for text in source_texts(project, "de")}
    return {
        key: Translated(text=text, source=texts[key].digest)
        for key, text in ((name.replace("__", "/"), text) for name, text in words.items())
    }


def test_each_text_has_a_key_and_nothing_else_has_one() -> None:
    project = pond()
    assert not validate(QUESTIONS)
    assert [text.key for text in source_texts(project, "de")] == KEYS
    by_key = {text.key: text for text in source_texts(project, "de")}
    assert by_key["questions/animal/choices/duck/text"].text == "Duck"
    assert by_key["questions/animal/choices/duck/text"].given == "Ente"


def test_keys_stay_when_questions_move() -> None:
    project, moved = pond(), pond()
    steps = moved["info"]["questions"]["steps"]
    steps.reverse()
    steps[0]["questions"].append(steps[1]["questions"].pop())
    steps[1]["questions"][0]["choices"].reverse()
    before, after = ({text.key for text in source_texts(each, "de")} for each in (project, moved))
    assert before == after


def test_tutorial_and_field_guide_have_texts_but_their_sample_tasks_do_not() -> None:
    project = pond(info={"language": "en", "guided_tutorial": tutorial(), "field_guide": field_guide()})
    keys = [text.key for text in source_texts(project, "de")]
    assert len(keys) == len(set(keys))
    steps, entries = tutorial()["steps"], field_guide()["entries"]
    assert all(f"guided_tutorial/steps/{step['name']}/title" in keys for step in steps)
    assert all(f"field_guide/entries/{entry['name']}/title" in keys for entry in entries)
    assert not any("/tasks/" in key or "/answers" in key for key in keys)


def test_missing_outdated_and_translated_are_told_apart() -> None:
    project = pond()
    stored = german(project, questions__animal__text="Welches Tier?", questions__ok__text="Lebt es?")
    project["info"]["questions"]["steps"][1]["questions"][0]["text"] = "Is it still alive?"
    texts = source_texts(project, "de")
    states = {text.key: text.state(stored) for text in texts}
    assert states["questions/animal/text"] == "translated"
    assert states["questions/ok/text"] == "outdated"
    assert states["questions/size/text"] == "missing"
    assert states["questions/animal/choices/duck/text"] == "translated", "the questions themselves say it"
    assert count_states(texts, stored) == {"missing": len(KEYS) - 3, "outdated": 1, "translated": 2}


def test_readers_get_what_is_translated_and_the_source_otherwise() -> None:
    project = pond()
    stored = german(
        project,
        project__name="Teich",
        questions__animal__text="Welches Tier?",
        questions__animal__help__text="Das größte",
        questions__ok__text="Lebt es?",
    )
    project["info"]["questions"]["steps"][1]["questions"][0]["text"] = "Is it still alive?"
    before = copy.deepcopy(project)
    shown = translated(project, stored, "de")
    assert project == before, "what is stored is not touched"
    assert (shown["name"], shown["description"]) == ("Teich", "Animals of a pond")
    assert shown["translated"] == {"name": "de"}
    animal, size = shown["info"]["questions"]["steps"][0]["questions"]
    assert animal["text"] == {"en": "Which animal?", "de": "Welches Tier?"}
    assert animal["help"] == {"text": {"en": "The largest one", "de": "Das größte"}, "picture": "/uploads/a.png"}
    assert size["text"] == "How large?"
    assert [choice["value"] for choice in animal["choices"]] == ["duck", "a/b"]
    assert shown["info"]["questions"]["steps"][1]["questions"][0]["text"] == "Is it still alive?", "outdated"
    assert not validate(shown["info"]["questions"])


@pytest.mark.parametrize("language", ["en", "en-GB"])
def test_the_language_of_the_project_is_never_replaced(language: str) -> None:
    project = pond()
    project["info"]["language"] = language
    stored = {"project/name": Translated(text="No", source=digest_of("Pond"))}
    assert translated(project, stored, "en") is project
    assert translated(project, None, "de") is project


def test_translated_guides_are_valid() -> None:
    project = pond(info={"language": "en", "guided_tutorial": tutorial(), "field_guide": field_guide()})
    stored = {
        text.key: Translated(text=f"Deutsch {text.text}"[: text.maximum], source=text.digest)
        for text in source_texts(project, "de")
    }
    info = translated(project, stored, "de")["info"]
    assert not TUTORIAL.validate(info["guided_tutorial"]) and not FIELD_GUIDE.validate(info["field_guide"])
    assert all(text.given for text in source_texts({**project, "info": info}, "de") if "project/" not in text.key)


def test_no_word_that_is_no_text_looks_like_texts_by_language() -> None:
    """A picture's ``url`` would be a tag: it stands beside texts, never in their place."""
    assert is_tag("url") and [key for key in KEYS if "url" in key] == []
