"""Bodies of requests that are no kind. One declaration gives parsing, errors and the schema in the OpenAPI document.

A route names its body (``Route.body``), and its handler gets it as ``body``. The rules take it, or its values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self, dataclass_transform

import attrs

from crowdd.kernel.errors import CrowddError, InvalidValueError, UnknownFieldError, at_item
from crowdd.kernel.languages import _
from crowdd.kinds.kind import Field
from crowdd.kinds.types import Schema, Type, missing, require_object

_FIELD = "field"
_UNLIMITED = 2**63  # bytes of a JSON value; requests have a limit of their own


def key(type_: Type | Field, doc: str = "", *, default: object = attrs.NOTHING, null: bool = False) -> Any:
    """Declare a key of a body. Without a ``default`` it must be sent. ``null``: its value may be null.

    The default ``...`` tells a key that was not sent from one that is null. An attribute of a kind brings its type, its
    description, its limit of bytes, and whether it may be null.
    """
    if isinstance(type_, Type):
        type_ = Field("", type_, doc, read=frozenset(), null=null, max_bytes=_UNLIMITED)
    return attrs.field(default=default, metadata={_FIELD: attrs.evolve(type_, doc=doc or type_.doc)})


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(key,))
class Body:
    """A JSON object with the keys of its class, and no others.

    ``class BarBody(Body, exactly_one=("user_id", "user_name"))`` has one of these keys. ``at_most_one`` has two keys.
    """

    _keys: ClassVar[Mapping[str, attrs.Attribute[object]]] = {}
    _exactly_one: ClassVar[tuple[str, ...]] = ()
    _at_most_one: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, *, exactly_one: tuple[str, ...] = (), at_most_one: tuple[str, ...] = ()) -> None:
        made: Any = attrs.frozen(cls, kw_only=True, slots=False)
        cls._keys = attrs.fields_dict(made)
        cls._exactly_one, cls._at_most_one = exactly_one or cls._exactly_one, at_most_one or cls._at_most_one

    @classmethod
    def parse(cls, value: object, place: str = "") -> Self:
        """The body that a JSON value is. Raises InvalidValueError, UnknownFieldError, TooLargeError.

        ``place``: where the value stands in another body. Errors name the path of the value that is refused.
        """
        sent = require_object(value, place)
        path = f"{place}." if place else ""
        for name in sent:
            if name not in cls._keys:
                known = ", ".join(cls._keys) or "none"
                raise UnknownFieldError(
                    _("Unknown attribute %(name)s. Known attributes: %(known)s.", name=path + name[:100], known=known)
                )
        values = {}
        for name, attribute in cls._keys.items():
            if name in sent:
                values[name] = attribute.metadata[_FIELD].parse(sent[name], path + name)
            elif attribute.default is attrs.NOTHING:
                raise missing(path + name)
        choices = cls._exactly_one or cls._at_most_one
        count = sum(name in sent for name in choices)
        if cls._exactly_one and not count:
            raise InvalidValueError(_("Send one of %(choices)s.", choices=", ".join(choices)), code="missing_attribute")
        if count > 1:
            raise InvalidValueError(_("Send only one of %(choices)s.", choices=", ".join(choices)))
        return cls(**values)

    @classmethod
    def schema(cls) -> Schema:
        """JSON Schema of the body."""
        schema: Schema = {
            "type": "object",
            "properties": {name: _describe(attribute) for name, attribute in cls._keys.items()},
            "required": [name for name, attribute in cls._keys.items() if attribute.default is attrs.NOTHING],
            "additionalProperties": False,
        }
        if cls._exactly_one:
            schema["oneOf"] = [{"required": [name]} for name in cls._exactly_one]
        elif cls._at_most_one:
            schema["not"] = {"required": list(cls._at_most_one)}  # of two
        return schema


def _describe(attribute: attrs.Attribute[object]) -> Schema:
    field: Field = attribute.metadata[_FIELD]
    schema = field.type.schema()
    if field.null and schema:
        schema = {"anyOf": [schema, {"type": "null"}]}
    if attribute.default not in (attrs.NOTHING, None, ...):
        schema = {**schema, "default": attribute.default}
    return {**schema, "description": field.doc} if field.doc else schema


@attrs.frozen
class Listed(Type):
    """An array of values of a type. An error names the element (``item``)."""

    of: Type = attrs.field(kw_only=True)
    maximum: int = attrs.field(kw_only=True)
    minimum: int = attrs.field(default=0, kw_only=True)

    def parse_at(self, value: object, place: str) -> list[object]:
        if not isinstance(value, list):
            raise InvalidValueError(f"`{place}` is not an array.")
        if not self.minimum <= len(value) <= self.maximum:
            bounds = f"{self.minimum:,} to {self.maximum:,}"
            raise InvalidValueError(f"`{place}` must have {bounds} elements (got {len(value):,}).")
        parsed: list[object] = []
        try:
            for element in value:
                parsed.append(self.of.parse(element))  # noqa: PERF401 - how many there are says which is refused
        except CrowddError:
            index = len(parsed)
            with at_item(index):
                self.of.parse_at(value[index], f"{place}[{index}]")
        return parsed

    def schema(self) -> Schema:
        schema = {"type": "array", "items": self.of.schema(), "maxItems": self.maximum}
        return {**schema, "minItems": self.minimum} if self.minimum else schema


@attrs.frozen
class Nested(Type):
    """A body within another."""

    of: type[Body] = attrs.field(kw_only=True)

    def parse(self, value: object) -> Body:
        return self.of.parse(value)

    def parse_at(self, value: object, place: str) -> Body:
        return self.of.parse(value, place)

    def schema(self) -> Schema:
        return self.of.schema()
