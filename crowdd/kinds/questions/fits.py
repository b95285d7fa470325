"""Whether a stored answer still fits a question.

It reads the JSON Schemas that ``answer`` of the types makes. Our schemas use few keywords, and the one library that we
trust with them weighs 15 MB, so that they are read here. A test compares the outcome with that library.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from crowdd.kinds.questions.options import is_day, is_number
from crowdd.kinds.types import Schema

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
