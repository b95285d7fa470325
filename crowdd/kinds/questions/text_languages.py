"""Texts that are written in several languages: one of them, and whole lists of questions in one of them."""

from __future__ import annotations

from typing import Any, Final

from crowdd.kernel.languages import SOURCE
from crowdd.kernel.languages.content_languages import is_tag

Text = str | dict[str, str]
TEXTS: Final = frozenset(
    {"text", "title", "description", "help", "low", "high", "unit", "unsure", "nothing", "attribution"}
)


def text_in(text: Text, language: str) -> str:
    """A text in a language; if it is missing in English, else in the first language that it has."""
    if isinstance(text, str):
        return text
    return text.get(language) or text.get(SOURCE) or next(iter(text.values()), "")


def in_language(document: object, language: str) -> Any:
    """A valid list of questions, or a part of it, with each text in one language."""
    if isinstance(document, list):
        return [in_language(part, language) for part in document]
    if not isinstance(document, dict):
        return document
    return {
        name: _one(value, language) if name in TEXTS else in_language(value, language)
        for name, value in document.items()
    }


def _one(value: object, language: str) -> Any:
    """A source (``{"column": …}``) and a help with a picture are no texts by language."""
    if (
        isinstance(value, dict)
        and value
        and all(is_tag(name) and isinstance(text, str) for name, text in value.items())
    ):
        return text_in(value, language)
    return in_language(value, language)


def columns_of(document: Any) -> frozenset[str]:
    """The columns of tasks that a valid list of questions shows."""
    media = [medium for step in document["steps"] for medium in step.get("media", [])]
    shown = [medium.get(name) for medium in media for name in ("source", "description")]
    sources = [source for each in shown for source in (each if isinstance(each, list) else [each])]
    return frozenset(source["column"] for source in sources if isinstance(source, dict) and "column" in source)
