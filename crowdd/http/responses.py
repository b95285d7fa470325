"""What handlers return. None of them knows how it leaves; ``http.negotiation`` does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import attrs


@attrs.frozen(init=False)
class Page:
    """A page: a template with its context for people, the context as JSON for programs.

    ``drawn_as``: another template for people, where there is nothing that the page's own could show.
    """

    template: str
    context: dict[str, Any]
    http_status: int = 200
    drawn_as: str = ""

    def __init__(self, template: str, http_status: int = 200, drawn_as: str = "", **context: Any) -> None:
        self.__attrs_init__(template, context, http_status, drawn_as)


@attrs.frozen
class Redirect:
    """Go on there. Programs get ``next``, ``flash`` and ``status`` (and what ``more`` says) with 200."""

    location: str
    flash: str = ""
    status: str = "success"
    more: dict[str, Any] = attrs.field(factory=dict)


@attrs.frozen
class JsonResponse:
    """A JSON value of the API."""

    value: Any
    status: int = 200
    headers: dict[str, str] = attrs.field(factory=dict)


@attrs.frozen
class BytesResponse:
    """Bytes of a type, with their own headers."""

    body: bytes
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: dict[str, str] = attrs.field(factory=dict)


@attrs.frozen
class Stream:
    """Events as they come (text/event-stream), until somebody has enough.

    ``begin`` gets an ``SseConnection`` when the head has gone; what it gives back is called at
    the end.
    """

    begin: Callable[[Any], Callable[[], None]]


@attrs.frozen
class Download:
    """A file that is made while it is sent, part by part; what its first part refuses is answered as usual."""

    name: str
    content_type: str
    parts: AsyncGenerator[bytes, None] = attrs.field(repr=False)


@attrs.frozen
class FileResponse:
    """Bytes of a file on the disk from ``begin`` to ``end``, read while they are sent."""

    path: Path
    content_type: str
    begin: int
    end: int
    status: int = 200
    headers: dict[str, str] = attrs.field(factory=dict)


Response = Page | Redirect | JsonResponse | BytesResponse | Stream | Download | FileResponse
