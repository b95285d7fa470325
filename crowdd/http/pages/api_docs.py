"""What the API says about itself: a document for programs, a page for people, both made when the server starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import crowdd
from crowdd.http.api.objects import tagged
from crowdd.http.api.openapi import document
from crowdd.http.api.reference import sections
from crowdd.http.error_codes import CODES
from crowdd.http.operation import Doc, many, record
from crowdd.http.request import Incoming
from crowdd.http.responses import Answer, Data, Page
from crowdd.http.routing import Route, get
from crowdd.kinds import KINDS

_SECTION = "about"
_TEXT = {"type": "string"}
_INDEX = Doc(
    name="index",
    section=_SECTION,
    summary="What there is below /api",
    answer=record(name=_TEXT, objects=many(_TEXT)),
)
_DOCUMENT = Doc(
    name="openapi",
    section=_SECTION,
    summary="This document",
    about="OpenAPI 3.1.",
    answer={"type": "object"},
)
_PAGE = Doc(
    name="docs",
    section=_SECTION,
    summary="This document as a page",
    answer=_TEXT,
    media=("text/html",),
)


class ApiDocs:
    """``/api/``, ``/api/openapi.json`` and ``/api/docs``. ``routes`` are those of all other rooms."""

    def __init__(self, routes: Iterable[Route], name: str) -> None:
        self._document = document(KINDS.values(), [*routes, *self.routes()], f"The API of {name}", crowdd.__version__)
        self._tagged = tagged(self._document)
        self._sections = sections(self._document)

    def routes(self) -> Iterator[Route]:
        yield get("/api/", self.index, endpoint="index", doc=_INDEX)
        yield get("/api/openapi.json", self.openapi, endpoint="openapi", doc=_DOCUMENT)
        yield get("/api/docs", self.page, endpoint="docs", doc=_PAGE)

    async def index(self, incoming: Incoming) -> Answer:
        return Data({"name": "crowdd", "objects": sorted(KINDS)})

    async def openapi(self, incoming: Incoming) -> Answer:
        return self._tagged

    async def page(self, incoming: Incoming) -> Answer:
        return Page(
            "about/api.html",
            title="API",
            about=self._document["info"]["description"],
            sections=self._sections,
            error_codes=error_codes(),
        )


def error_codes() -> list[dict[str, Any]]:
    """The table of codes by status, as JSON."""
    rows = [{"code": code.code, "status": code.status, "meaning": code.meaning} for code in CODES]
    return sorted(rows, key=lambda row: row["status"])
