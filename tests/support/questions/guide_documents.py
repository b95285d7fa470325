"""Guides that tests show, and the questions that they explain."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

QUESTIONS: Json = {
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
                    "choices": [{"value": "fox", "text": "Fox"}, {"value": "owl", "text": "Owl"}],
                },
                {"name": "note", "type": "short_text", "text": "What is special?"},
            ],
        }
    ],
}


def tutorial(**more: Any) -> Json:
    """Three steps: an introduction with a picture, a highlighted question, and a practice task."""
    steps = [
        {
            "name": "welcome",
            "title": {"en": "Welcome", "de": "Willkommen", "ar": "مرحبًا"},
            "text": {"en": "Look at the **ears** first.", "de": "Schau zuerst auf die **Ohren**."},
            "picture": {"url": "/static/img/sample-1.svg", "description": "A landscape", "credit": "Ada"},
        },
        {
            "name": "question",
            "title": "The question",
            "text": "Choose the animal here.",
            "highlight": {"question": "animal"},
        },
        {
            "name": "place",
            "title": "Where to look",
            "highlight": {"medium": "photo", "rectangle": {"x": 10, "y": 10, "width": 40, "height": 30}},
        },
        {
            "name": "practice",
            "title": "Try it",
            "practice": [
                {
                    "question": "animal",
                    "answers": ["fox"],
                    "right": "Foxes have pointed ears.",
                    "wrong": "Owls have feathers.",
                }
            ],
        },
    ]
    task = {"name": "sample", "info": {"url_b": "/static/img/sample-2.svg", "title": "Sample"}}
    return {"version": 1, "tasks": [task], "steps": steps, **more}


def field_guide() -> Json:
    """Two groups and an entry without one; texts in two languages."""
    picture = {"url": "/static/img/sample-1.svg", "description": "In snow", "credit": "Photo: Ada"}
    return {
        "version": 1,
        "groups": [
            {"name": "mammals", "title": {"en": "Mammals", "de": "Säugetiere"}},
            {"name": "birds", "title": "Birds"},
        ],
        "entries": [
            {
                "name": "fox",
                "title": {"en": "Red fox", "de": "Rotfuchs", "ar": "ثعلب أحمر"},
                "group": "mammals",
                "text": "Pointed **ears**.",
                "keywords": "vulpes, reynard",
                "pictures": [picture, {"url": "/static/img/sample-2.svg", "description": "At night"}],
            },
            {"name": "owl", "title": "Tawny owl", "group": "birds", "text": "Round head.", "keywords": "strix"},
            {"name": "nothing", "title": "Empty picture", "text": "Only leaves."},
        ],
    }
