"""Why a file was refused, as it is stored: a sentence that can still be said in other languages."""

from __future__ import annotations

from typing import Any

from crowdd.languages import Sentence
from crowdd.languages import _ as sentence
from crowdd.languages import ngettext as plural
from crowdd.values import JsonObject


def stored(words: object) -> JsonObject:
    """A sentence, or other words, as JSON."""
    if not isinstance(words, Sentence):
        return {"one": None, "text": str(words)[:500]}
    values: JsonObject = {
        name: value if isinstance(value, int | float) else str(value) for name, value in words.values.items()
    }
    return {"one": words.one, "many": words.many, "number": words.number, "values": values, "text": str(words)[:500]}


def told(reason: JsonObject | None) -> str:
    """The words again: a Sentence where they were one; "" for none."""
    if reason is None:
        return ""
    one, values = reason.get("one"), reason.get("values")
    if not isinstance(one, str) or not isinstance(values, dict):
        return str(reason["text"])
    many, number = reason.get("many"), reason.get("number")
    named: dict[str, Any] = dict(values)
    if isinstance(many, str) and isinstance(number, int):
        named.pop("num", None)
        return plural(one, many, number, **named)
    return sentence(one, **named)


def of(error: Exception) -> JsonObject:
    """The words of an error: ``str()`` would forget that they are a Sentence."""
    return stored(error.args[0] if error.args else error)
