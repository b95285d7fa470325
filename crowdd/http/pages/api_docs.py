"""The documentation of the API: an OpenAPI document and a page. Both are made when the server starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypedDict

import crowdd
from crowdd.http.api.objects import tagged
from crowdd.http.api.openapi import document
from crowdd.http.api.reference import Section, sections
from crowdd.http.error_codes import CODES
from crowdd.http.operation import Operation, array_of, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Page, Response, Titled
from crowdd.http.routing import Route, get
from crowdd.kinds import KINDS

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
