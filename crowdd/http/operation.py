"""What a route of the API says about itself. ``http.api.openapi`` makes the document of it; nothing else reads it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

import attrs

from crowdd.kernel.errors import CrowddError

Schema = dict[str, Any]
JSON = "application/json"


class Audience(enum.Enum):
    """Who an operation is for."""

    ANYBODY = "anybody"
    SIGNED_IN = "signed in"  # with a key or a session
    VOLUNTEER = "volunteer"  # anybody, and external users with their token
    SECRET = "secret"  # noqa: S105 - requests with the project's secret key


@attrs.frozen
class Parameter:
    """A name of the query, of the headers or of the path; ``schema`` is JSON Schema of its value.

    ``empty``: without a value it is as if it were not there.
    """

    name: str
    schema: Schema
    doc: str
    where: str = "query"
    empty: bool = False


@attrs.frozen
class Link:
    """What an answer leads to: another operation, whose ``parameters`` are values of the answer (JSON pointers)."""

    operation: str
    parameters: Mapping[str, str]


@attrs.frozen
class Operation:
    """One operation. ``name`` is unique, ``section`` is the heading it stands under.

    ``answer`` is the JSON Schema of a 200, None where the answer is a 204 without a body; ``bodies`` has the schema of
    the request for each media type, unless the route has a ``body``. ``refusals`` are those that this operation has
    beside those that all have.
    """

    name: str
    section: str
    summary: str
    answer: Schema | None
    about: str = ""
    parameters: tuple[Parameter, ...] = ()
    bodies: Mapping[str, Schema] = attrs.field(factory=dict)
    refusals: tuple[type[CrowddError], ...] = ()
    audience: Audience = Audience.ANYBODY
    media: tuple[str, ...] = (JSON,)
    links: tuple[Link, ...] = ()


def reference(name: str) -> Schema:
    """The schema of that name among those of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


def array_of(schema: Schema) -> Schema:
    """An array of it."""
    return {"type": "array", "items": schema}


def non_empty(schema: Schema) -> Schema:
    """An array of at least one of it."""
    return {**array_of(schema), "minItems": 1}


def closed_object(**properties: Schema) -> Schema:
    """An object that has exactly these keys."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
