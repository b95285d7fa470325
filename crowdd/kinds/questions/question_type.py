"""What a type of question is, advice on lists of questions, and whether a stored answer still fits a question.

A type declares its options, its answer, and whether others may depend on it. Advice is on what is allowed but
probably a mistake: a column without values, one key in two questions.

Whether an answer fits is read from the JSON Schemas that ``answer`` of the types makes. Our schemas use few keywords,
and the one library that we trust with them weighs 15 MB, so that they are read here. A test compares the outcome with
that library.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import attrs

from crowdd.kernel.languages import _, ngettext
from crowdd.kernel.values import Values
from crowdd.kinds.questions.options import (
    BOOLEAN,
    HELP,
    KIND,
    TEXT,
    UNSURE,
    Option,
    Problem,
    at,
    is_day,
    is_number,
    needed,
)
from crowdd.kinds.questions.suggest import SUGGEST
from crowdd.kinds.types import Schema

COMMON: Final[dict[str, Option]] = {
    "text": needed(TEXT).called(_("Question"), _("What volunteers read above their answer.")),
    "help": HELP.called(_("Help"), _("A hint below the question, with a picture if you like.")),
    "required": BOOLEAN.called(_("An answer is required"), _("The task cannot be sent without it.")),
    "unsure": UNSURE.called(_("Offer “I can’t tell”"), _("Volunteers who are not sure need not guess.")),
    "suggest": SUGGEST.called(_("Suggested answer"), _("Volunteers see it as a suggestion that they check.")),
    "kind": KIND.called(
        _("Is there a right answer?"), _("Opinions are counted. They are never called right or agreed.")
    ),
}
"""What each question has besides ``name``, ``type``, ``show_if``, and ``on`` and ``each`` where it has them."""
COMMON_OF_MARKS: Final = {name: option for name, option in COMMON.items() if name != "suggest"}
"""The same of a question about a mark: what is suggested of marks says that, too."""
NOTHING: Final[dict[str, Option]] = {
    "nothing": UNSURE.called(
        _("Offer “Nothing there”"),
        _("Volunteers can say that what you ask for is not there."),
    ),
}
"""What a question has besides, if its answer is written or chosen; marks have it always."""
GROUPS: Final = {
    "choice": _("Choose"),
    "write": _("Write"),
    "picture": _("Mark in pictures"),
    "text": _("Mark in texts"),
    "recording": _("Mark in sounds and videos"),
    "map": _("Mark on maps"),
}
"""The groups of the catalogue of types, in their order."""


def _fine(question: Values, path: str) -> Iterator[Problem]:
    return iter(())


@attrs.frozen
class QuestionType:
    """A type of question.

    ``answer(question)`` is the JSON Schema of an answer that is not null. ``values(question)`` are the values that
    ``show_if`` may compare with: a list of them, a type of Python for any, None where nothing may depend on the type.
    ``media`` are the types of media that it is ``on``, none for a question of its own; ``module`` is the module of
    ``questions/types`` that shows it.
    """

    name: str
    doc: str
    options: dict[str, Option]
    answer: Callable[[Values], Schema]
    values: Callable[[Values], list[Any] | type | None] = lambda question: None
    check: Callable[[Values, str], Iterator[Problem]] = _fine
    choices: str = ""  # the option with the values of an answer, if there is one
    media: frozenset[str] = frozenset()
    needs_medium: bool = False
    whole: bool = False  # whether it is never a question about a mark
    each: bool = False  # whether marks have questions of their own
    answer_type: str = ""  # of an answer field (kinds.answers); "": its answers are not compared, and have no field
    single: tuple[str, str] | None = (
        None  # the same where an answer has one mark: type, and the key of the mark that has it
    )
    module: str = ""
    group: str = "choice"  # of GROUPS
    label: str = ""
    sentence: str = ""  # what volunteers do, for people who choose a type


@attrs.frozen
class MediaType:
    """A type of media: its options besides ``name``, ``type`` and ``description``."""

    name: str
    doc: str
    options: dict[str, Option]
    label: str = ""
    sentence: str = ""


@attrs.frozen
class Columns:
    """The columns of some tasks of a project: in how many of ``n_tasks`` each has a value that is not empty."""

    n_tasks: int
    filled: Mapping[str, int]


def advice(document: Values, columns: Columns) -> list[Problem]:
    """Advice about a valid list of questions, in its order."""
    return [one for nth, step in enumerate(document["steps"]) for one in _of_step(step, at("/steps", nth), columns)]


def _of_step(step: Values, path: str, columns: Columns) -> Iterator[Problem]:
    for nth, medium in enumerate(step.get("media", [])):
        here = at(path, "media", nth)
        sources = medium.get("source", [])
        many = isinstance(sources, list)
        for n, source in enumerate(sources if many else [sources]):
            yield from _column(source, at(here, "source", n) if many else at(here, "source"), columns)
        yield from _column(medium.get("description"), at(here, "description"), columns)
    for nth, question in enumerate(step.get("questions", [])):
        yield from _column(question.get("suggest"), at(path, "questions", nth, "suggest"), columns)
    yield from _keys(step, path)


def _column(source: object, path: str, columns: Columns) -> Iterator[Problem]:
    name = source.get("column") if isinstance(source, dict) else None
    if not isinstance(name, str) or not columns.n_tasks:
        return
    lacking = columns.n_tasks - columns.filled.get(name, 0)
    if lacking == columns.n_tasks:
        words = ngettext(
            "The task has no column “%(name)s”.",
            "None of %(num)s checked tasks has the column “%(name)s”.",
            lacking,
            name=name,
        )
        yield Problem(at(path, "column"), words)
    elif lacking:
        words = ngettext(
            "Of %(total)s checked tasks, one has nothing in the column “%(name)s”.",
            "Of %(total)s checked tasks, %(num)s have nothing in the column “%(name)s”.",
            lacking,
            total=columns.n_tasks,
            name=name,
        )
        yield Problem(at(path, "column"), words)


def _keys(step: Values, path: str) -> Iterator[Problem]:
    """Keys that an earlier question of the step uses. Both questions may be shown at once; the first gets the key."""
    taken: dict[str, str] = {}
    for nth, question in enumerate(step.get("questions", [])):
        own: set[str] = set()
        for option in ("choices", "labels"):
            for n, entry in enumerate(question.get(option) or []):
                key = entry.get("key")
                if key and taken.get(key, question["name"]) != question["name"]:
                    words = _("The key “%(key)s” is also used by the question “%(name)s”.", key=key, name=taken[key])
                    yield Problem(at(path, "questions", nth, option, n, "key"), words)
                elif key:
                    own.add(key)
        taken |= dict.fromkeys(own, question["name"])


_IS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": is_number,
    "integer": lambda value: is_number(value) and value == int(value),
}


def fits(schema: Schema, value: Any) -> bool:
    """Whether a value has the form that a schema of answers describes."""
    if "anyOf" in schema:
        return any(fits(one, value) for one in schema["anyOf"])
    if "type" in schema and not _IS[schema["type"]](value):
        return False
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        return False
    if "const" in schema and not _same(value, schema["const"]):
        return False
    if isinstance(value, str):
        return _text(schema, value)
    if isinstance(value, list):
        return _array(schema, value)
    if isinstance(value, dict):
        return _object(schema, value)
    return not is_number(value) or _within(schema, value, "minimum", "maximum")


def _same(one: object, other: object) -> bool:
    """Equal, and both or neither a truth value: in Python, True is 1."""
    return one == other and isinstance(one, bool) is isinstance(other, bool)


def _within(schema: Schema, size: float, minimum: str, maximum: str) -> bool:
    return bool(schema.get(minimum, size) <= size <= schema.get(maximum, size))


def _text(schema: Schema, value: str) -> bool:
    if schema.get("format") == "date" and not is_day(value):
        return False
    if "pattern" in schema and not re.search(schema["pattern"], value):
        return False
    return _within(schema, len(value), "minLength", "maxLength")


def _array(schema: Schema, value: list[object]) -> bool:
    if schema.get("uniqueItems") and any(each in value[:nth] for nth, each in enumerate(value)):
        return False
    items = schema.get("items", {})
    return _within(schema, len(value), "minItems", "maxItems") and all(fits(items, each) for each in value)


def _object(schema: Schema, value: Mapping[str, object]) -> bool:
    properties = schema.get("properties", {})
    if not all(name in value for name in schema.get("required", ())):
        return False
    if schema.get("additionalProperties") is False and not all(name in properties for name in value):
        return False
    known = all(fits(properties[name], value[name]) for name in value if name in properties)
    return known and len(value) >= schema.get("minProperties", 0)
