"""The suggestions of a list of questions: of which questions there are some, and what of a task can be one. Pure."""

from __future__ import annotations

from typing import Final

import orjson

from crowdd.kernel.values import Json, Values
from crowdd.kinds.questions.question_type import fits
from crowdd.kinds.questions.schemas import schema_of_answer
from crowdd.kinds.types import Schema

_NOTHING: Final = (None, "")


def questions_by_name(document: object) -> dict[str, Values]:
    """The questions of a valid list, none without one; not those about marks."""
    steps = document["steps"] if isinstance(document, dict) else []
    return {each["name"]: each for step in steps for each in step.get("questions", [])}


def suggesting(document: object) -> list[Values]:
    """The questions of a valid list that have suggestions, in their order; none without a list."""
    return [question for question in questions_by_name(document).values() if question.get("suggest")]


def suggestion_schemas(document: Values) -> dict[str, Schema]:
    """What a suggestion for each of these questions has to be, by its name."""
    return {question["name"]: suggestion_schema(question) for question in suggesting(document)}


def suggestion_schema(question: Values) -> Schema:
    """The schema of the answer, in which marks need no selector: their page makes it of the rest."""
    return _lenient(schema_of_answer(question))


def _lenient(schema: Schema) -> Schema:
    if "anyOf" in schema:
        return {**schema, "anyOf": [_lenient(one) for one in schema["anyOf"]]}
    items = schema.get("items", {})
    if "selector" not in items.get("required", ()):
        return schema
    return {**schema, "items": {**items, "required": [name for name in items["required"] if name != "selector"]}}


def is_suggestion(value: object) -> bool:
    """Whether a task has a suggestion there, usable or not."""
    return value not in _NOTHING


def usable(schema: Schema, value: Json) -> Json:
    """The suggested value if it fits, also if it is JSON in a text. None for others, and for no value."""
    if not is_suggestion(value):
        return None
    if fits(schema, value):
        return value
    if not isinstance(value, str):
        return None
    try:
        written: Json = orjson.loads(value)
    except orjson.JSONDecodeError:
        return None
    return written if fits(schema, written) else None
