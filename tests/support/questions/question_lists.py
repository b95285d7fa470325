"""Lists of questions that tests ask."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
CHOICES: list[Json] = [{"value": "fox", "text": "Fox", "key": "f"}, {"value": "owl", "text": "Owl", "key": "o"}]
ONE: Json = {
    "version": 1,
    "steps": [
        {
            "name": "look",
            "media": [{"name": "photo", "type": "picture", "source": {"column": "url_b"}, "description": "A trap"}],
            "questions": [
                {
                    "name": "animal",
                    "type": "single_choice",
                    "text": "Which animal?",
                    "required": True,
                    "choices": CHOICES,
                }
            ],
        }
    ],
}
"""One question that a click answers."""
FILES: Json = {
    "version": 1,
    "steps": [
        {
            "name": "look",
            "questions": [
                {"name": "photo", "type": "file", "text": "What does it look like?", "picture": True, "required": True},
                {"name": "note", "type": "short_text", "text": "What is it?"},
            ],
        }
    ],
}
"""A photo of a thing, and its name."""


def every_form() -> Json:
    """Each type that needs no medium, in four steps; the last one is for foxes only."""
    look = [
        {
            "name": "animal",
            "type": "single_choice",
            "text": {"en": "Which animal?", "de": "Welches Tier?", "ar": "أي حيوان؟"},
            "help": {"text": "Look at the ears.", "picture": "/static/img/sample-1.svg"},
            "required": True,
            "unsure": "No idea",
            "choices": CHOICES,
        },
        {
            "name": "colours",
            "type": "multiple_choice",
            "text": "Which colours?",
            "min": 2,
            "choices": [{"value": value, "text": value.title()} for value in ("red", "grey", "white")],
        },
        {"name": "young", "type": "yes_no", "text": "Is it young?", "unsure": True},
        {
            "name": "age",
            "type": "number",
            "text": "How old is it?",
            "min": 0,
            "max": 20,
            "whole": True,
            "unit": "years",
            "show_if": {"question": "young", "is": [False, None]},
        },
    ]
    words = [
        {
            "name": "clear",
            "type": "rating",
            "text": "How clear is it?",
            "required": True,
            "low": "Not at all",
            "high": "Very",
        },
        {"name": "light", "type": "rating", "text": "How light is it?", "max": 11, "slider": True, "unsure": True},
        {"name": "name", "type": "short_text", "text": "Give it a name.", "required": True, "max_length": 20},
        {"name": "story", "type": "long_text", "text": "What happens?"},
        {"name": "day", "type": "date", "text": "When was it?", "min": "2020-01-01", "max": "2026-12-31"},
        {
            "name": "about",
            "type": "date",
            "text": "When was it written?",
            "min": "1834-05-10",
            "partial": True,
            "nothing": True,
        },
    ]
    order = [
        {
            "name": "first",
            "type": "ranking",
            "text": "What comes first?",
            "required": True,
            "choices": [{"value": value, "text": value.title()} for value in ("food", "sleep", "play")],
        },
        {
            "name": "habits",
            "type": "matrix",
            "text": "What does it do?",
            "required": True,
            "rows": [{"value": "day", "text": "By day"}, {"value": "night", "text": "By night"}],
            "columns": [{"value": "hunts", "text": "It hunts"}, {"value": "rests", "text": "It rests"}],
        },
    ]
    photo = {"name": "photo", "type": "picture", "source": {"column": "url_b"}, "description": {"column": "link"}}
    both = {"name": "both", "type": "pictures", "source": [{"column": "url_b"}, {"url": "/static/img/sample-2.svg"}]}
    note = {"name": "note", "type": "text", "source": {"column": "link"}, "description": "A note"}
    last = {"name": "sly", "type": "yes_no", "text": "Is it sly?", "required": True}
    return {
        "version": 1,
        "steps": [
            {"name": "look", "title": {"en": "Look", "de": "Schau hin"}, "media": [photo], "questions": look},
            {"name": "words", "title": "Words", "media": [both, note], "questions": words},
            {"name": "order", "title": "Order", "questions": order},
            {"name": "foxes", "show_if": {"question": "animal", "is": ["fox"]}, "questions": [last]},
        ],
    }


_FOR_CONTROLS: dict[str, Any] = {
    "text": {"en": "Words", "de": "Wörter"},
    "help": {"text": {"en": "Help", "ar": "مساعدة"}, "picture": "/static/img/sample-1.svg"},
    "boolean": True,
    "unsure": {"en": "No idea"},
    "kind": "opinion",
    "integer": 7,
    "number": 7.5,
    "day": "2024-02-29",
    "address": "https://tiles.example/{z}/{x}/{y}.png",
    "source": {"column": "url_b"},
    "suggest": {"column": "n", "hidden_share": 0.2},
    "sources": [{"column": "url_b"}, {"url": "/static/img/sample-2.svg"}],
    "description": {"column": "link"},
    "numbers": [48.85, 2.35],
}
_PARTS: dict[str, Any] = {"key": "f", "colour": "#0b3f63"}


def _value(option: Json) -> Any:
    if option["control"] != "choices":
        return _FOR_CONTROLS[option["control"]]
    first = {part["name"]: _PARTS.get(part["name"], "first") for part in option["parts"]}
    return [first, {"value": "second", "text": {"en": "Second", "de": "Zweites"}}, {"value": "ثالث", "text": "ثالث"}]


def every_option(told: Json) -> Json:
    """A step for each declared type of question and of media, with every option of it. ``told``: ``declarations()``."""
    steps: list[Json] = []
    for medium in told["media"]:
        options = {option["name"]: _value(option) for option in medium["options"]}
        made = {"name": f"m_{medium['name']}", "type": medium["name"], **options}
        steps.append({"name": f"s_{medium['name']}", "title": {"en": "A step"}, "media": [made]})
    for kind in told["types"]:
        options = {option["name"]: _value(option) for option in [*told["common"], *kind["options"]]}
        if kind["name"] == "rating":
            options |= {"min": -3, "max": 7, "step": 5}
        if kind["name"] == "number":
            options |= {"min": -7.5, "max": 7.5}
        if {"min", "max"} <= options.keys() and kind["compared"] == "choices":
            options |= {"min": 1, "max": 2}
        made = {"name": f"q_{kind['name']}", "type": kind["name"], **options}
        step: Json = {"name": f"t_{kind['name']}", "questions": [made]}
        if kind["media"]:
            source = {"source": ""} if kind["media"][0] == "map" else {"source": {"url": "/static/img/sample-1.svg"}}
            step["media"] = [{"name": f"on_{kind['name']}", "type": kind["media"][0], **source}]
            if source["source"] == "":
                step["media"][0].pop("source")
            made["on"] = f"on_{kind['name']}"
        if kind["each"]:
            about = {"name": f"e_{kind['name']}", "type": "short_text", "text": "What is it?", "max_length": 9}
            made["each"] = [about]
        steps.append(step)
    asked = {question["name"] for step in steps for question in step.get("questions", [])}
    conditions = {
        "q_single_choice": ["first", None],
        "q_multiple_choice": ["second"],
        "q_yes_no": [True, False],
        "q_rating": [2],
        "q_number": [3, 4.5],
    }
    assert conditions.keys() <= asked
    steps[-1]["show_if"] = [{"question": name, "is": values} for name, values in conditions.items()]
    steps[-1]["questions"][0]["show_if"] = {"question": "q_yes_no", "is": [None]}
    return {"version": 1, "steps": steps}
