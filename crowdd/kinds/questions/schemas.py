"""JSON Schemas of lists of questions and of the answers to them (draft 2020-12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from crowdd.kernel.values import JsonObject as Schema
from crowdd.kernel.values import Values
from crowdd.kinds.questions.format import (
    DRAFT,
    MAX_COMPARED,
    MAX_CONDITIONS,
    MAX_MEDIA,
    MAX_QUESTIONS,
    MAX_STEPS,
    NAME,
    ORIGINAL_KEYS,
    RESERVED,
    UNSEEN_KEY,
    VERSION,
    VERSION_KEY,
)
from crowdd.kinds.questions.options import (
    DESCRIPTION,
    SOURCE_SCHEMA,
    TEXT_SCHEMA,
    Option,
    Problem,
    closed,
    object_schema,
)
from crowdd.kinds.questions.question_type import COMMON, COMMON_OF_MARKS, MediaType, QuestionType
from crowdd.kinds.questions.types import MEDIA, TYPES

_NAME: Final[Schema] = {"type": "string", "pattern": f"^{NAME.pattern}$", "not": {"enum": list(RESERVED)}}


def document_schema() -> Schema:
    """The schema of ``info.questions``. The guide has what it cannot say: unique names, earlier questions."""
    step = closed(
        {
            "name": _ref("name"),
            "title": _ref("text"),
            "show_if": _ref("show_if"),
            "media": {"type": "array", "maxItems": MAX_MEDIA, "items": _any(_medium(kind) for kind in MEDIA.values())},
            "questions": _questions(TYPES.values(), COMMON),
        },
        ("name",),
    )
    steps = {"type": "array", "minItems": 1, "maxItems": MAX_STEPS, "items": step}
    return {
        "$schema": DRAFT,
        "title": "Questions of a crowdd project",
        **closed({"version": {"const": VERSION}, "steps": steps}, ("version", "steps")),
        "$defs": {"name": _NAME, "text": TEXT_SCHEMA, "source": SOURCE_SCHEMA, "show_if": _show_if()},
    }


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _any(schemas: Iterable[Schema]) -> Schema:
    return {"oneOf": list(schemas)}


def _questions(kinds: Iterable[QuestionType], common: Mapping[str, Option]) -> Schema:
    return {"type": "array", "maxItems": MAX_QUESTIONS, "items": _any(_question(kind, common) for kind in kinds)}


def _show_if() -> Schema:
    values = {
        "type": "array",
        "minItems": 1,
        "maxItems": MAX_COMPARED,
        "items": {"type": ["string", "number", "boolean", "null"]},
    }
    one = closed({"question": _ref("name"), "is": values}, ("question", "is"))
    return {"anyOf": [{"type": "null"}, one, {"type": "array", "maxItems": MAX_CONDITIONS, "items": one}]}


def _named(name: str) -> dict[str, Option]:
    named = Option(_never, _ref("name"), needed=True)
    return {"name": named, "type": Option(_never, {"const": name}, needed=True)}


def _never(value: object, path: str) -> Iterator[Problem]:
    return iter(())


def _medium(kind: MediaType) -> Schema:
    return {"description": kind.doc, **object_schema({**_named(kind.name), "description": DESCRIPTION, **kind.options})}


def _question(kind: QuestionType, common: Mapping[str, Option]) -> Schema:
    options = {**_named(kind.name), **common, "show_if": Option(_never, _ref("show_if")), **kind.options}
    if kind.media:
        options["on"] = Option(_never, _ref("name"), needed=kind.needs_medium)
    if kind.each:
        own = [each for each in TYPES.values() if not (each.needs_medium or each.whole)]
        options["each"] = Option(_never, _questions(own, COMMON_OF_MARKS))
    return {"description": kind.doc, **object_schema(options)}


def answer_schema(document: Values) -> Schema:
    """The schema of ``info`` of an answer to a valid list of questions."""
    names: Schema = {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True}
    number: Schema = {"type": "integer", "minimum": 1}
    properties: dict[str, Schema] = {VERSION_KEY: number, UNSEEN_KEY: names, **dict.fromkeys(ORIGINAL_KEYS, number)}
    always: list[str] = [VERSION_KEY]
    for step in document["steps"]:
        for question in step.get("questions", []):
            properties[question["name"]] = schema_of_answer(question)
            if question.get("required") and not (step.get("show_if") or question.get("show_if")):
                always.append(question["name"])
    return {"$schema": DRAFT, **closed(properties, tuple(always))}


def schema_of_answer(question: Values) -> Schema:
    """The schema of the answer to a question, with what is said about each mark."""
    kind = TYPES[question["type"]]
    schema = kind.answer(question)
    if kind.each and question.get("each"):
        about = {each["name"]: schema_of_answer(each) for each in question["each"]}
        items = {**schema["items"], "properties": {**schema["items"]["properties"], "answers": closed(about)}}
        schema = {**schema, "items": items}
    instead: list[Schema] = [{"type": "array", "maxItems": 0}] if question.get("nothing") else []
    instead += [{"type": "null"}] if question.get("unsure") else []
    return {"anyOf": [schema, *instead]} if instead else schema
