"""The OpenAPI 3.1 document: a pure function of the kinds and the routes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from crowdd.http.api import schemas
from crowdd.http.auth.cookies import SESSION
from crowdd.http.errors import CODES, UNKNOWN, status_of_class
from crowdd.http.operation import JSON, Audience, Link, Operation, Parameter, Schema, reference
from crowdd.http.routing import Route
from crowdd.kernel import errors
from crowdd.kinds.kind import Kind

OpenApi = dict[str, Any]
"""An object of the document."""

VERSION = "3.1.1"
ABOUT = """Projects, their tasks and the answers of volunteers.

Send an API key as `api_key` in the query or as `Authorization: <key>`. A wrong key is treated as no key, and many
requests need none. Bodies are JSON in UTF-8. Values are converted if their type allows it, such as `"5"` for an
integer. Every GET also answers HEAD and returns an ETag. Times are in UTC and ISO 8601, with microseconds and without
a time zone.

A list has 20 rows by default and 100 at most (`limit`). To get the next page, pass the last id as `last_id`. Unknown
names in the query are refused, except `_`, which is ignored. An error is a JSON object. Programs can rely on its
`error_code`. If one element of an array caused it, `item` is the index of that element."""
# What every operation may answer beside its own.
_ALWAYS = (
    errors.ForbiddenError,
    errors.InvalidValueError,
    errors.TooManyRequestsError,
    errors.UnavailableError,
)
_ROOT = "/api/"
_PATH_NAME = re.compile(r"<(?:(?P<converter>\w+):)?(?P<name>\w+)>")
_SECURITY: dict[Audience, list[dict[str, list[str]]]] = {
    Audience.ANYBODY: [{}, {"key": []}, {"key_header": []}, {"session": []}],
    Audience.SIGNED_IN: [{"key": []}, {"key_header": []}, {"session": []}],
    Audience.VOLUNTEER: [{}, {"key": []}, {"key_header": []}, {"session": []}, {"external_user": []}],
    Audience.SECRET: [{"secret_key": []}],
}
_SCHEMES: OpenApi = {
    "key": {"type": "apiKey", "in": "query", "name": "api_key", "description": "Your API key."},
    "key_header": {"type": "apiKey", "in": "header", "name": "Authorization", "description": "Your API key."},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": SESSION,
        "description": "Session cookie of a browser. With https, the name begins with __Host-.",
    },
    "external_user": {"type": "http", "scheme": "bearer", "description": "A token for an external user."},
    "secret_key": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "The secret key of the project.",
    },
}
_WAITS = (429, 503)
_RETRY_AFTER = {
    "Retry-After": {
        "schema": {"type": "integer"},
        "required": True,
        "description": "Seconds to wait before the next request.",
    }
}
_HEADERS: OpenApi = {
    "X-Request-Id": {"schema": {"type": "string"}, "description": "Id of this request in the log of the server."},
    "X-RateLimit-Limit": {"schema": {"type": "integer"}, "description": "Requests allowed in the window."},
    "X-RateLimit-Remaining": {"schema": {"type": "integer"}, "description": "Requests left in the window."},
    "X-RateLimit-Reset": {
        "schema": {"type": "integer"},
        "description": "End of the window, as a Unix time in seconds.",
    },
    "X-RateLimit-Scope": {
        "schema": {"type": "string", "enum": ["key", "browser", "network"]},
        "description": "What the other three headers count: requests of the API key, the browser or the network.",
    },
}


def document(kinds: Iterable[Kind], routes: Iterable[Route], title: str, version: str) -> OpenApi:
    """The document of all routes below /api; ``version`` is that of the product.

    Raises ValueError for a route that does not describe itself.
    """
    kinds, routes = list(kinds), [route for route in routes if route.path.startswith(_ROOT)]
    paths: OpenApi = {}
    for route in routes:
        paths.setdefault(path_template(route.path), {})[route.method.lower()] = _operation(route)
    return {
        "openapi": VERSION,
        "info": {"title": title, "version": version, "description": ABOUT},
        "servers": [{"url": "/"}],
        "tags": list(_tags(kinds, routes)),
        "paths": paths,
        "components": {
            "schemas": dict(_schemas(kinds)),
            "responses": _responses(),
            "headers": _HEADERS,
            "securitySchemes": _SCHEMES,
        },
    }


def path_template(path: str) -> str:
    """The path of a route as OpenAPI writes it."""
    return _PATH_NAME.sub(lambda match: f"{{{match['name']}}}", path)


def error_schema() -> Schema:
    """The error object (interface: error-object)."""
    text = {"type": "string"}
    names = sorted({code.name for code in CODES})
    properties = {
        "status": {"const": "failed"},
        "status_code": {"type": "integer"},
        "action": {**text, "description": "HTTP method of the request."},
        "target": {**text, "description": "Kind of object."},
        "exception_cls": {**text, "enum": names},
        "exception_msg": {**text, "description": "What went wrong, in words for people."},
        "error_code": {
            **text,
            "enum": sorted({code.code for code in CODES}),
            "description": "What went wrong, as a code for programs.",
        },
        "hint": {**text, "description": "What to do about it. May be empty."},
    }
    item = {
        "type": "integer",
        "minimum": 0,
        "description": "Index of the element that caused the error, from 0. Only for arrays.",
    }
    return {
        "type": "object",
        "properties": {**properties, "item": item},
        "required": list(properties),
        "additionalProperties": False,
    }


def _operation(route: Route) -> OpenApi:
    doc = _doc(route)
    made: OpenApi = {"operationId": doc.name, "tags": [doc.section], "summary": doc.summary}
    if doc.about:
        made["description"] = doc.about
    made["parameters"] = [_parameter(one) for one in (*_of_path(route), *_elsewhere(doc))]
    if bodies := doc.bodies if route.body is None else {JSON: route.body.schema()}:
        content = {media: {"schema": schema} for media, schema in bodies.items()}
        made["requestBody"] = {"required": True, "content": content}
    made["responses"] = _answers(route.method, doc)
    made["security"] = _SECURITY[doc.audience]
    return made


def _doc(route: Route) -> Operation:
    if route.operation is None:
        raise ValueError(f"{route.method} {route.path} has no operation.")
    return route.operation


def _of_path(route: Route) -> Iterator[Parameter]:
    """The names in the path; those that the route does not describe are plain texts."""
    described = {one.name: one for one in _doc(route).parameters if one.where == "path"}
    for match in _PATH_NAME.finditer(route.path):
        yield described.get(match["name"]) or Parameter(match["name"], {"type": "string"}, "", where="path")


def _elsewhere(doc: Operation) -> Iterator[Parameter]:
    return (one for one in doc.parameters if one.where != "path")


def _parameter(one: Parameter) -> OpenApi:
    place = {"name": one.name, "in": one.where, "schema": one.schema, "description": one.doc}
    required = {"required": True} if one.where == "path" else {}
    return place | required | ({"allowEmptyValue": True} if one.empty else {})


def _answers(method: str, doc: Operation) -> OpenApi:
    responses: OpenApi = {}
    headers = {name: {"$ref": f"#/components/headers/{name}"} for name in _HEADERS}
    if doc.answer is None:
        responses["204"] = {"description": "Success, without a body.", "headers": headers}
    else:
        content = {media: {"schema": doc.answer} for media in doc.media}
        responses["200"] = {"description": "Success.", "headers": headers, "content": content}
        if doc.links:
            responses["200"]["links"] = {link.operation: _link(link) for link in doc.links}
    if method == "GET":
        responses["304"] = {"description": "Not changed since the ETag in If-None-Match."}
    statuses = {status_of_class(sort)[0] for sort in (*_ALWAYS, *doc.refusals)} | {UNKNOWN[0]}
    return responses | {str(status): {"$ref": f"#/components/responses/Error{status}"} for status in sorted(statuses)}


def _link(link: Link) -> OpenApi:
    taken = {name: f"$response.body#{pointer}" for name, pointer in link.parameters.items()}
    return {"operationId": link.operation, "parameters": taken}


def _responses() -> OpenApi:
    """One for each status of a refusal, with the codes that come with it."""
    made = {}
    for status in sorted({code.status for code in CODES}):
        codes = [code.code for code in CODES if code.status == status]
        narrowed = {"properties": {"status_code": {"const": status}, "error_code": {"enum": codes}}}
        content = {JSON: {"schema": {"allOf": [reference("Error"), narrowed]}}}
        made[f"Error{status}"] = {"description": f"Refused: {', '.join(codes)}.", "content": content}
        if status in _WAITS:
            made[f"Error{status}"]["headers"] = _RETRY_AFTER
    return made


def _schemas(kinds: Iterable[Kind]) -> Iterator[tuple[str, Schema]]:
    for kind in kinds:
        yield schemas.answer_name(kind), schemas.answer(kind)
        if "POST" in kind.methods:
            yield schemas.creation_name(kind), schemas.creation(kind)
        if "PUT" in kind.methods:
            yield schemas.change_name(kind), schemas.change(kind)
    yield "Error", error_schema()


def _tags(kinds: Iterable[Kind], routes: Iterable[Route]) -> Iterator[dict[str, str]]:
    """The sections in the order of the routes; those of kinds with what the kind is."""
    descriptions = {kind.name: kind.doc for kind in kinds}
    for section in dict.fromkeys(_doc(route).section for route in routes):
        yield {"name": section, "description": descriptions[section]} if section in descriptions else {"name": section}
