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
