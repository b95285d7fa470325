"""Options of questions and media: what each may hold, as a check and as JSON Schema."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, Final, TypeGuard

import attrs

from crowdd.kernel.languages import _
from crowdd.kernel.languages.content_languages import is_tag
from crowdd.kinds.types import Schema

MAX_TEXT: Final = 2000  # characters
MAX_CHOICES: Final = 500
_MAX_VALUE: Final = 200  # characters
_MAX_COLUMN: Final = 200
_MAX_ADDRESS: Final = 2000
_MAX_LANGUAGES: Final = 50
_MAX_SOURCES: Final = 20
_KEYS: Final = re.compile("[a-z0-9]")
PAGE_KEYS: Final = frozenset("hsz")
"""Keys of the page around a task: help, skip, change the last answer."""
_ADDRESS: Final = re.compile(r"(https?://[^\s/]|/[^\s/])\S*")


@attrs.frozen
class Problem:
    """What is wrong at a place of a document: a JSON pointer ("" for the whole) and a sentence."""

    path: str
    sentence: str


Problems = Iterator[Problem]
Check = Callable[[Any, str], Problems]


@attrs.frozen
class Option:
    """A property: ``check(value, path)`` says what is wrong with a value.

    The builder makes a field of it: ``label`` and ``hint`` are its words, ``control`` names the kind of field (see
    ``static/builder/controls``), ``limits`` are what the field has to know, ``parts`` the properties of each entry of a
    list.
    """

    check: Check
    schema: Schema
    needed: bool = False
    label: str = ""
    hint: str = ""
    control: str = ""
    limits: Mapping[str, float] = attrs.field(factory=dict)
    parts: Mapping[str, Option] = attrs.field(factory=dict)

    def called(self, label: str, hint: str = "") -> Option:
        """The same option with its words."""
        return attrs.evolve(self, label=label, hint=hint)


def needed(option: Option) -> Option:
    """The same option, which must be there."""
    return attrs.evolve(option, needed=True)


def at(path: str, *names: str | int) -> str:
    """The JSON pointer of a part."""
    return path + "".join("/" + str(name).replace("~", "~0").replace("/", "~1") for name in names)


def is_number(value: object) -> TypeGuard[float]:
    """A finite number of JSON that scripts do not round; true and false are none."""
    if not isinstance(value, int | float) or isinstance(value, bool) or abs(value) > sys.float_info.max:
        return False
    return value == float(value)


def closed(properties: dict[str, Schema], needs: tuple[str, ...] = ()) -> Schema:
    """The schema of an object with these properties only."""
    required = {"required": list(needs)} if needs else {}
    return {"type": "object", "properties": properties, "additionalProperties": False, **required}


def check_object(value: object, path: str, options: dict[str, Option]) -> Problems:
    """What is wrong with an object of options."""
    if not isinstance(value, dict):
        yield Problem(path, _("This must be an object."))
        return
    for name in value:
        if name not in options:
            yield Problem(at(path, name[:100]), _("“%(name)s” is not known here.", name=name[:100]))
    for name, option in options.items():
        if name in value:
            yield from option.check(value[name], at(path, name))
        elif option.needed:
            yield Problem(path, _("“%(name)s” is missing.", name=name))


def object_schema(options: dict[str, Option]) -> Schema:
    """The JSON Schema of an object of options."""
    needs = tuple(name for name, option in options.items() if option.needed)
    return closed({name: option.schema for name, option in options.items()}, needs)


# ---------------------------------------------------------------------------------------------------------------- texts


def _check_words(value: object, path: str, maximum: int) -> Problems:
    if not isinstance(value, str) or not value.strip():
        yield Problem(path, _("Write a text here."))
    elif len(value) > maximum:
        yield Problem(path, _("This may have at most %(max)s characters (got %(size)s).", max=maximum, size=len(value)))


def check_text(value: object, path: str, maximum: int = MAX_TEXT) -> Problems:
    """A text, or an object of texts by language, of at most ``maximum`` characters each."""
    if not isinstance(value, dict):
        yield from _check_words(value, path, maximum)
        return
    if not 1 <= len(value) <= _MAX_LANGUAGES:
        yield Problem(path, _("Write the text in 1 to %(max)s languages.", max=_MAX_LANGUAGES))
        return
    for tag, words in value.items():
        if not is_tag(tag):
            sentence = _("“%(tag)s” is not a language tag such as en, pt-BR or zh-Hant.", tag=tag[:100])
            yield Problem(at(path, tag[:100]), sentence)
        yield from _check_words(words, at(path, tag[:100]), maximum)


def text_schema(maximum: int = MAX_TEXT) -> Schema:
    """The JSON Schema of what ``check_text`` allows."""
    words: Schema = {"type": "string", "minLength": 1, "maxLength": maximum}
    by_language: Schema = {
        "type": "object",
        "minProperties": 1,
        "maxProperties": _MAX_LANGUAGES,
        "propertyNames": {"pattern": "^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$"},
        "additionalProperties": words,
    }
    return {"oneOf": [words, by_language]}


TEXT: Final = Option(check_text, {"$ref": "#/$defs/text"}, control="text")
TEXT_SCHEMA: Final[Schema] = text_schema()


def _check_unsure(value: object, path: str) -> Problems:
    return iter(()) if isinstance(value, bool) else check_text(value, path)


UNSURE: Final = Option(_check_unsure, {"anyOf": [{"type": "boolean"}, {"$ref": "#/$defs/text"}]}, control="unsure")


FACT: Final = "fact"
OPINION: Final = "opinion"


def _check_kind(value: object, path: str) -> Problems:
    if value not in (FACT, OPINION):
        yield Problem(path, _("This must be “fact” or “opinion”."))


KIND: Final = Option(_check_kind, {"enum": [FACT, OPINION]}, control="kind")


# -------------------------------------------------------------------------------------------------- addresses, sources


def _check_address(value: object, path: str) -> Problems:
    if not isinstance(value, str) or len(value) > _MAX_ADDRESS or not _ADDRESS.fullmatch(value):
        yield Problem(path, _("This must be a web address, or a path of this site such as /uploads/…"))


ADDRESS: Final = Option(
    _check_address,
    {"type": "string", "maxLength": _MAX_ADDRESS, "pattern": "^(https?://[^\\s/]|/[^\\s/])\\S*$"},
    control="address",
)


def _check_column(value: object, path: str) -> Problems:
    if not isinstance(value, str) or not 1 <= len(value) <= _MAX_COLUMN:
        yield Problem(path, _("Name a column of the tasks, in 1 to %(max)s characters.", max=_MAX_COLUMN))


COLUMN: Final = Option(_check_column, {"type": "string", "minLength": 1, "maxLength": _MAX_COLUMN})


def _check_source(value: object, path: str) -> Problems:
    if isinstance(value, dict) and len(value) == 1 and next(iter(value)) in ("column", "url"):
        yield from check_object(value, path, {"column": COLUMN, "url": ADDRESS})
    else:
        yield Problem(path, _("Name a column of the tasks ({“column”: …}) or an address ({“url”: …})."))


SOURCE: Final = Option(_check_source, {"$ref": "#/$defs/source"}, needed=True, control="source")
SOURCE_SCHEMA: Final[Schema] = {
    "oneOf": [closed({"column": COLUMN.schema}, ("column",)), closed({"url": ADDRESS.schema}, ("url",))]
}


def _check_sources(value: object, path: str) -> Problems:
    if not isinstance(value, list) or not 1 <= len(value) <= _MAX_SOURCES:
        yield Problem(path, _("List 1 to %(max)s sources.", max=_MAX_SOURCES))
        return
    for nth, source in enumerate(value):
        yield from _check_source(source, at(path, nth))


SOURCES: Final = Option(
    _check_sources,
    {"type": "array", "minItems": 1, "maxItems": _MAX_SOURCES, "items": {"$ref": "#/$defs/source"}},
    needed=True,
    control="sources",
    limits={"max": _MAX_SOURCES},
)


def _check_description(value: object, path: str) -> Problems:
    column = isinstance(value, dict) and "column" in value
    return _check_source(value, path) if column else check_text(value, path)


DESCRIPTION: Final = Option(
    _check_description,
    {"anyOf": [closed({"column": COLUMN.schema}, ("column",)), {"$ref": "#/$defs/text"}]},
    control="description",
    label=_("Description"),
    hint=_("People who do not see or hear it read this instead."),
)


def _check_help(value: object, path: str) -> Problems:
    if isinstance(value, dict) and value.keys() & {"text", "picture"}:
        yield from check_object(value, path, {"text": TEXT, "picture": ADDRESS})
    else:
        yield from check_text(value, path)


HELP: Final = Option(
    _check_help,
    {
        "anyOf": [
            {"$ref": "#/$defs/text"},
            closed({"text": TEXT.schema, "picture": ADDRESS.schema}) | {"minProperties": 1},
        ]
    },
    control="help",
)


# -------------------------------------------------------------------------------------------------------------- figures


def _check_boolean(value: object, path: str) -> Problems:
    if not isinstance(value, bool):
        yield Problem(path, _("This must be true or false."))


BOOLEAN: Final = Option(_check_boolean, {"type": "boolean"}, control="boolean")


def number(minimum: float = -1e15, maximum: float = 1e15, *, above: bool = False) -> Option:
    """A number; ``above``: greater than the minimum."""

    def check(value: Any, path: str) -> Problems:
        low = is_number(value) and (value > minimum if above else value >= minimum)
        if not (low and value <= maximum):
            yield Problem(
                path, _("This must be a number from %(min)s to %(max)s.", min=f"{minimum:g}", max=f"{maximum:g}")
            )

    bound = "exclusiveMinimum" if above else "minimum"
    schema: Schema = {"type": "number", bound: minimum, "maximum": maximum}
    return Option(check, schema, control="number", limits={"min": minimum, "max": maximum})


def integer(minimum: int, maximum: int) -> Option:
    """A whole number."""

    def check(value: object, path: str) -> Problems:
        if type(value) is not int or not minimum <= value <= maximum:
            yield Problem(path, _("This must be a whole number from %(min)s to %(max)s.", min=minimum, max=maximum))

    schema: Schema = {"type": "integer", "minimum": minimum, "maximum": maximum}
    return Option(check, schema, control="integer", limits={"min": minimum, "max": maximum})


def is_day(value: object) -> bool:
    """Whether it is a day as YYYY-MM-DD."""
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _check_day(value: object, path: str) -> Problems:
    if not is_day(value):
        yield Problem(path, _("This must be a day such as 2026-02-28."))


DAY: Final = Option(_check_day, {"type": "string", "format": "date"}, control="day")


def numbers(length: int, minimum: float, maximum: float) -> Option:
    """A list of so many numbers."""
    each = number(minimum, maximum)

    def check(value: object, path: str) -> Problems:
        if not isinstance(value, list) or len(value) != length:
            yield Problem(path, _("This must be a list of %(n)s numbers.", n=length))
            return
        for nth, item in enumerate(value):
            yield from each.check(item, at(path, nth))

    schema: Schema = {"type": "array", "minItems": length, "maxItems": length, "items": each.schema}
    return Option(check, schema, control="numbers", limits={"length": length, "min": minimum, "max": maximum})


# -------------------------------------------------------------------------------------------------------------- choices


def _check_value(value: object, path: str) -> Problems:
    if not isinstance(value, str) or not 1 <= len(value) <= _MAX_VALUE:
        yield Problem(path, _("A value is a text of 1 to %(max)s characters.", max=_MAX_VALUE))


def _check_key(value: object, path: str) -> Problems:
    if not isinstance(value, str) or not _KEYS.fullmatch(value):
        yield Problem(path, _("A key is one of the letters a to z or a digit."))
    elif value in PAGE_KEYS:
        yield Problem(path, _("The key “%(key)s” belongs to the page around the task.", key=value))


_VALUE: Final = Option(
    _check_value,
    {"type": "string", "minLength": 1, "maxLength": _MAX_VALUE},
    needed=True,
    control="value",
    label=_("Stored value"),
)
_KEY: Final = Option(_check_key, {"type": "string", "pattern": "^[a-gi-rt-y0-9]$"}, control="key", label=_("Key"))
_CHOICE: Final = {"value": _VALUE, "text": needed(TEXT).called(_("Text"))}


def choices(minimum: int = 1, *, keys: bool = False, others: dict[str, Option] | None = None) -> Option:
    """A list of values with their texts; ``keys``: each may have a shortcut."""
    parts = {**_CHOICE, **({"key": _KEY} if keys else {}), **(others or {})}

    def check(value: object, path: str) -> Problems:
        if not isinstance(value, list) or not minimum <= len(value) <= MAX_CHOICES:
            yield Problem(path, _("List %(min)s to %(max)s entries.", min=minimum, max=MAX_CHOICES))
            return
        for nth, choice in enumerate(value):
            yield from check_object(choice, at(path, nth), parts)
        yield from _check_repeated(value, path)

    items = object_schema(parts)
    schema: Schema = {"type": "array", "minItems": minimum, "maxItems": MAX_CHOICES, "items": items}
    return Option(check, schema, control="choices", limits={"min": minimum, "max": MAX_CHOICES}, parts=parts)


def _check_repeated(entries: list[object], path: str) -> Problems:
    seen = set()
    for nth, value in enumerate(values_of(entries)):
        if value in seen:
            yield Problem(at(path, nth, "value"), _("Two entries have the value “%(value)s”.", value=value[:100]))
        seen.add(value)


def values_of(entries: object) -> list[str]:
    """The values of a list of choices; "" where there is none."""
    if not isinstance(entries, list):
        return []
    values = (choice.get("value") if isinstance(choice, dict) else "" for choice in entries)
    return [value if isinstance(value, str) else "" for value in values]
