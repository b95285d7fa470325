"""The documentation of the API: the OpenAPI document as sections for people, and the views that serve both.

Document and page are made when the server starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypedDict

import crowdd
from crowdd.http.api.objects import tagged
from crowdd.http.api.openapi import document
from crowdd.http.errors import CODES
from crowdd.http.operation import Operation, array_of, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Page, Response, Titled
from crowdd.http.routing import Route, get
from crowdd.kinds import KINDS

Json = Mapping[str, Any]
_TYPES = {"string": "text", "boolean": "true or false", "array": "list", "number": "number", "integer": "integer"}
_BODIES = {"Creation": "attributes marked POST", "Change": "attributes marked PUT"}
_METHODS = ("get", "post", "put", "delete")


class Attribute(TypedDict):
    """An attribute of a kind. ``places`` are where it may be sent."""

    name: str
    type: str
    about: str
    places: list[str]


class ParameterEntry(TypedDict):
    """A parameter of an operation; ``where`` is path, query or header."""

    name: str
    where: str
    type: str
    about: str


class Body(TypedDict):
    """A body of an operation in a media type."""

    media: str
    type: str


class OperationEntry(TypedDict):
    """An operation. ``filters`` says whether it also takes the attributes of the section as filters."""

    id: str
    method: str
    path: str
    summary: str
    about: str
    signed_in: bool
    filters: bool
    parameters: list[ParameterEntry]
    bodies: list[Body]
    answer: str
    refusals: list[str]


class Section(TypedDict):
    """A tag of the document, with the attributes of its kind."""

    name: str
    about: str
    attributes: list[Attribute]
    operations: list[OperationEntry]


def sections(document: Json) -> list[Section]:
    """A section for each tag of a document."""
    return [
        {
            "name": tag["name"],
            "about": tag.get("description", ""),
            "attributes": list(_attributes(document, tag["name"])),
            "operations": list(_operations(document, tag["name"])),
        }
        for tag in document["tags"]
    ]


def words(schema: Json) -> str:
    """A schema in a few words: "integer or null", "text, at most 255 characters", "list of Task"."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return next((text for end, text in _BODIES.items() if name.endswith(end)), name)
    if "anyOf" in schema and "type" not in schema:
        return " or ".join(dict.fromkeys(words(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    types = schema.get("type", "any JSON")
    named = [types] if isinstance(types, str) else types
    return _with_bounds(" or ".join(_TYPES.get(one, one) for one in named), schema)


def _with_bounds(text: str, schema: Json) -> str:
    if "items" in schema:
        text = text.replace("list", f"list of {words(schema['items'])}")
    if schema.get("format") == "binary":
        return "file"
    if schema.get("pattern", "").startswith(r"^\d{4}-"):
        text = text.replace("text", "time")
    if "maxLength" in schema:
        text += f", at most {schema['maxLength']:,} characters"
    return text


def _attributes(document: Json, section: str) -> Iterator[Attribute]:
    """The attributes of a kind: what each is, and where it may be sent."""
    schemas = document["components"]["schemas"]
    name = section.capitalize()
    if name not in schemas:
        return
    asked = _query_names(document, f"/api/{section}")
    for attribute, schema in schemas[name]["properties"].items():
        places = [
            _place(schemas.get(f"{name}Creation"), attribute, "POST"),
            _place(schemas.get(f"{name}Change"), attribute, "PUT"),
            "filter" if attribute in asked else "",
        ]
        yield {
            "name": attribute,
            "type": words(schema),
            "about": schema.get("description", ""),
            "places": [place for place in places if place],
        }


def _place(body: Json | None, attribute: str, method: str) -> str:
    if body is None or body["properties"].get(attribute, {"readOnly": True}).get("readOnly"):
        return ""
    return f"{method}, must be given" if attribute in body["required"] else method


def _query_names(document: Json, path: str) -> set[str]:
    operation = document["paths"].get(path, {}).get("get", {"parameters": []})
    return {one["name"] for one in operation["parameters"] if one["in"] == "query"}


def _operations(document: Json, section: str) -> Iterator[OperationEntry]:
    known = document["components"]["schemas"].get(section.capitalize(), {"properties": {}})["properties"]
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if section in methods.get(method, {"tags": []})["tags"]:
                yield _operation(method.upper(), path, methods[method], known)


def _operation(method: str, path: str, operation: Json, known: Json) -> OperationEntry:
    """``known`` are the attributes that the section shows anyway: as filters they are not repeated."""
    body = operation.get("requestBody", {"content": {}})["content"]
    repeated = {one["name"] for one in operation["parameters"] if one["in"] == "query" and one["name"] in known}
    return {
        "id": operation["operationId"],
        "method": method,
        "path": path,
        "summary": operation["summary"],
        "about": operation.get("description", ""),
        "signed_in": {} not in operation["security"],
        "filters": bool(repeated),
        "parameters": [_parameter(one) for one in operation["parameters"] if one["name"] not in repeated],
        "bodies": [{"media": media, "type": words(content["schema"])} for media, content in body.items()],
        "answer": _answer(operation),
        "refusals": [status for status in operation["responses"] if status >= "400"],
    }


def _parameter(one: Json) -> ParameterEntry:
    return {"name": one["name"], "where": one["in"], "type": words(one["schema"]), "about": one["description"]}


def _answer(operation: Json) -> str:
    content = operation["responses"].get("200", {}).get("content")
    return words(next(iter(content.values()))["schema"]) if content else ""


_SECTION = "about"
_TEXT = {"type": "string"}
_INDEX = Operation(
    name="index",
    section=_SECTION,
    summary="List the resources of the API",
    answer=closed_object(name=_TEXT, objects=array_of(_TEXT)),
)
_DOCUMENT = Operation(
    name="openapi",
    section=_SECTION,
    summary="Read this document",
    about="OpenAPI 3.1.",
    answer={"type": "object"},
)
_PAGE = Operation(
    name="docs",
    section=_SECTION,
    summary="Read this document as a page",
    answer=_TEXT,
    media=("text/html",),
)


class ErrorCode(TypedDict):
    """An error code of the API."""

    code: str
    status: int
    meaning: str


class ApiDocsPublic(Titled):
    about: str
    sections: list[Section]
    error_codes: list[ErrorCode]


class ApiDocs:
    """``/api/``, ``/api/openapi.json`` and ``/api/docs``. ``routes`` are those of all other views."""

    def __init__(self, routes: Iterable[Route], name: str) -> None:
        self._document = document(KINDS.values(), [*routes, *self.routes()], f"The API of {name}", crowdd.__version__)
        self._tagged = tagged(self._document)
        self._sections = sections(self._document)

    def routes(self) -> Iterator[Route]:
        yield get("/api/", self.index, endpoint="index", operation=_INDEX)
        yield get("/api/openapi.json", self.openapi, endpoint="openapi", operation=_DOCUMENT)
        yield get("/api/docs", self.page, endpoint="docs", operation=_PAGE)

    async def index(self, incoming: Incoming) -> Response:
        return JsonResponse({"name": "crowdd", "objects": sorted(KINDS)})

    async def openapi(self, incoming: Incoming) -> Response:
        return self._tagged

    async def page(self, incoming: Incoming) -> Response:
        public = ApiDocsPublic(
            title="API",
            about=self._document["info"]["description"],
            sections=self._sections,
            error_codes=error_codes(),
        )
        return Page("about/api.html", public)


def error_codes() -> list[ErrorCode]:
    """The error codes, sorted by status."""
    rows = [ErrorCode(code=code.code, status=code.status, meaning=code.meaning) for code in CODES]
    return sorted(rows, key=lambda row: row["status"])
