"""The values that handlers return. ``http.negotiation`` turns them into HTTP responses."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, Final, TypedDict

import attrs
import orjson

from crowdd.http.edge.marked_text import MarkedText


class Public(TypedDict):
    """The part of a page's context that programs get as JSON, and the template too.

    Each page has a TypedDict of its own, which fits here whatever its keys are. A plain dict does not fit.
    """


class Private(TypedDict):
    """The part of a page's context that only its template gets. Each page has a TypedDict of its own."""


class Titled(TypedDict):
    """A page with a title."""

    title: str


class Message(TypedDict, total=False):
    """A message above the page, and its kind: success, info, warning or error."""

    flash: str
    status: str


NO_MESSAGE: Final[Message] = {}


@attrs.frozen
class Page:
    """A page: HTML for people, JSON for programs.

    The template gets ``public`` and ``private`` as one context, in which a private value hides a public one of the same
    name. The JSON has ``public`` and the name of the template. ``drawn_as`` is another template for people, for when
    the content that ``template`` shows is missing. ``inlined``: the template has scripts and styles of its own
    (``frames.Inlined``).
    """

    template: str
    public: Public
    private: Private | None = None
    http_status: int = 200
    drawn_as: str = ""
    inlined: bool = False

    def as_json(self) -> bytes:
        """What programs get."""
        return orjson.dumps({"template": self.template, **self.public})


@attrs.frozen
class NotModified:
    """What is sent to those who have a page with this entity tag already; ``headers`` are encoded."""

    entity_tag: str
    headers: tuple[tuple[bytes, bytes], ...]


@attrs.frozen
class SharedPage:
    """A page that is the same for many visitors, as HTML or JSON, and compressed. ``drawn``: it is HTML.

    Where it has forms, ``marked`` is there instead of the bodies: each visitor gets it with a token of their own, and
    it has no entity tag. Headers are encoded, those of each form of it. ``known`` is for those who have it, as it is
    and compressed. ``inlined`` as in ``Page``.
    """

    body: bytes = attrs.field(repr=False)
    packed: bytes = attrs.field(repr=False)
    headers: tuple[tuple[bytes, bytes], ...]
    packed_headers: tuple[tuple[bytes, bytes], ...]
    drawn: bool = True
    inlined: bool = False
    known: tuple[NotModified, ...] = ()
    marked: MarkedText | None = None

    @property
    def size(self) -> int:
        """The bytes of what is kept."""
        return self.marked.size if self.marked is not None else len(self.body) + len(self.packed)


@attrs.frozen
class Redirect:
    """A redirect. Programs get status 200 with ``next``, ``flash``, ``status`` and the keys of ``more`` as JSON."""

    location: str
    flash: str = ""
    status: str = "success"
    more: dict[str, Any] = attrs.field(factory=dict)


@attrs.frozen
class JsonResponse:
    """A JSON value of the API; bytes are JSON already."""

    value: Any
    status: int = 200
    headers: dict[str, str] = attrs.field(factory=dict)

    def json(self) -> bytes:
        """The value as JSON."""
        return self.value if isinstance(self.value, bytes) else orjson.dumps(self.value)


@attrs.frozen
class BytesResponse:
    """Bytes of a type, with their own headers."""

    body: bytes
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: dict[str, str] = attrs.field(factory=dict)


@attrs.frozen
class FixedResponse:
    """What an address always answers to everybody: its body, and all headers that are its own, encoded."""

    body: bytes
    headers: tuple[tuple[bytes, bytes], ...]


@attrs.frozen
class Stream:
    """An event stream (text/event-stream) that lasts until one side closes it; ``lines``: of lines of JSON instead.

    ``begin`` is called with an ``SseConnection`` after the headers are sent. It returns a function that is called when
    the connection ends.
    """

    begin: Callable[[Any], Callable[[], None]]
    lines: bool = False


@attrs.frozen
class Download:
    """A file that is made while it is sent, in parts. An error in the first part becomes a normal error response."""

    name: str
    content_type: str
    parts: AsyncGenerator[bytes, None] = attrs.field(repr=False)
    headers: dict[str, str] = attrs.field(factory=dict)


@attrs.frozen
class FileResponse:
    """Bytes of a file on the disk from ``begin`` to ``end``, read while they are sent."""

    path: Path
    content_type: str
    begin: int
    end: int
    status: int = 200
    headers: dict[str, str] = attrs.field(factory=dict)


@attrs.frozen
class PiecesResponse:
    """``length`` bytes that are read while they are sent. An error in the first piece becomes an error response."""

    pieces: AsyncGenerator[bytes, None] = attrs.field(repr=False)
    length: int
    content_type: str
    status: int = 200
    headers: dict[str, str] = attrs.field(factory=dict)


Response = (
    Page
    | SharedPage
    | NotModified
    | Redirect
    | JsonResponse
    | BytesResponse
    | Stream
    | Download
    | FileResponse
    | PiecesResponse
)
