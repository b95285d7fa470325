"""How an answer was given, as the volunteer's page tells it with the answer (interface: taskrun-circumstances)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

import attrs

from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.values import Values
from crowdd.kinds.questions.format import MAX_QUESTIONS, NAME
from crowdd.kinds.types import JsonObject, Schema, clean_text

INPUTS: Final = ("keyboard", "pointer", "touch")
MAX_SECONDS: Final = 86_400.0
MAX_MEDIA: Final = 20
MAX_ADDRESS: Final = 2000  # characters
OUTCOMES: Final = ("accepted", "changed", "rejected")
"""What became of a suggestion that was shown. Rejected: there is no answer in its place, or that nobody can tell."""
_TAG: Final = r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,4}"
_LANGUAGE: Final = re.compile(_TAG)
_SECONDS: Final = {"type": "number", "minimum": 0, "maximum": MAX_SECONDS}
_SUGGESTION: Final[Schema] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"shown": {"type": "boolean"}, "outcome": {"enum": list(OUTCOMES)}, "seconds": _SECONDS},
    "required": ["shown"],
}
SCHEMA: Final[Schema] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "language": {"type": "string", "pattern": f"^{_TAG}$", "description": "Language of the page (BCP 47)."},
        "media": {
            "type": "object",
            "maxProperties": MAX_MEDIA,
            "additionalProperties": {"type": "string", "maxLength": MAX_ADDRESS},
            "description": (
                "Addresses of the media that were shown, by their names."
                " Those of media on this server contain a hash of the content."
            ),
        },
        "seconds_visible": {**_SECONDS, "description": "Seconds in which the task was on the screen."},
        "seconds_active": {**_SECONDS, "description": "Seconds of these in which the volunteer did something."},
        "inputs": {
            "type": "array",
            "items": {"enum": list(INPUTS)},
            "uniqueItems": True,
            "description": "What the volunteer answered with.",
        },
        "suggestions": {
            "type": "object",
            "maxProperties": MAX_QUESTIONS,
            "propertyNames": {"pattern": f"^{NAME.pattern}$"},
            "additionalProperties": _SUGGESTION,
            "description": "Of the questions for which the task has a suggestion: whether it was shown, what became of"
            " it, and after how many seconds.",
        },
    },
}


@attrs.frozen
class Circumstances(JsonObject):
    """An object with some of the keys of SCHEMA."""

    def parse(self, value: object) -> Values:
        """The object; raises InvalidValueError."""
        members = JsonObject().parse(value)
        if unknown := sorted(members.keys() - _PARSERS.keys()):
            raise InvalidValueError(f"has the unknown key {unknown[0]!r}; known are {', '.join(_PARSERS)}")
        return {key: _PARSERS[key](key, one) for key, one in members.items()}

    def schema(self) -> Schema:
        """JSON Schema of the object."""
        return SCHEMA


def _language(key: str, value: object) -> str:
    if not isinstance(value, str) or not _LANGUAGE.fullmatch(value):
        raise InvalidValueError(f"has no language tag in `{key}`")
    return value


def _media(key: str, value: object) -> Values:
    if not isinstance(value, dict) or len(value) > MAX_MEDIA:
        raise InvalidValueError(f"has no object of at most {MAX_MEDIA} addresses in `{key}`")
    for address in value.values():
        if not isinstance(address, str) or len(address) > MAX_ADDRESS:
            raise InvalidValueError(
                f"has a value in `{key}` that is not an address of at most {MAX_ADDRESS} characters"
            )
        clean_text(address)
    return value


def _seconds(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_SECONDS:
        raise InvalidValueError(f"has no number from 0 to {MAX_SECONDS:.0f} in `{key}`")
    return round(value, 1)


def _inputs(key: str, value: object) -> list[str]:
    if not isinstance(value, list) or any(one not in INPUTS for one in value):
        raise InvalidValueError(f"has something else than {', '.join(INPUTS)} in `{key}`")
    return sorted(set(value))


def _suggestions(key: str, value: object) -> Values:
    if not isinstance(value, dict) or len(value) > MAX_QUESTIONS or not all(map(NAME.fullmatch, value)):
        raise InvalidValueError(f"has no object of at most {MAX_QUESTIONS} questions in `{key}`")
    return {name: _suggestion(f"{key}.{name}", one) for name, one in value.items()}


def _suggestion(key: str, one: object) -> Values:
    if not isinstance(one, dict) or not isinstance(one.get("shown"), bool) or one.keys() - _SUGGESTION["properties"]:
        raise InvalidValueError(f"has something else than `shown`, `outcome` and `seconds` in `{key}`")
    if "outcome" in one and one["outcome"] not in OUTCOMES:
        raise InvalidValueError(f"has something else than {', '.join(OUTCOMES)} in `{key}.outcome`")
    return {**one, **({"seconds": _seconds(f"{key}.seconds", one["seconds"])} if "seconds" in one else {})}


_PARSERS: Final[Mapping[str, Callable[[str, object], object]]] = {
    "language": _language,
    "media": _media,
    "seconds_visible": _seconds,
    "seconds_active": _seconds,
    "inputs": _inputs,
    "suggestions": _suggestions,
}
