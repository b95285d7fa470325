"""Write responses: headers, compression, bodies that are read while they are sent, and cross-origin permission.

Cross-origin requests follow the CORS protocol of the Fetch standard.
"""

from __future__ import annotations

import gzip
from functools import lru_cache

import attrs
from twisted.web.http_headers import Headers

from crowdd.http.edge.downloads import LONG, Downloads, offered_codings, packed_parts, pieces_of, spill_body
from crowdd.http.edge.fair_share import CostlyRequests
from crowdd.http.edge.headers import (
    EncodedHeaders,
    accepts_gzip,
    best_coding,
    coded_etag,
    encode,
    matches_etag,
    set_headers,
    values_of,
)
from crowdd.http.edge.streams import EVENTS, LINES, Streams
from crowdd.http.negotiation import Negotiator
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Download, FileResponse, FixedResponse, PiecesResponse, Stream
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.requester import network

_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
_ASKED = (
    "Content-Type, Authorization, X-CSRFToken, X-Project-Password, X-Draft-Key, Idempotency-Key, If-Match,"
    " If-None-Match, Tus-Resumable, Upload-Length, Upload-Offset, Upload-Metadata, Upload-Checksum"
)
_SHOWN = (
    "ETag, Retry-After, X-No-Task, X-Held-Tasks, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset,"
    " X-RateLimit-Scope, X-Request-Id, Location, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size,"
    " Upload-Length, Upload-Offset, Upload-Expires"
)
_MAX_AGE = "21600"


@attrs.frozen
class Cors:
    """Configured origins may use cookies on every route; all others may read /api without any. Never both."""

    origins: frozenset[str]

    def headers(self, origin: str, *, is_api: bool, preflight: bool) -> dict[str, str]:
        """Headers of an answer to a page of this origin; none for ``null`` and for requests of no page."""
        if not origin or origin == "null":
            return {}
        if origin in self.origins:
            allowed = {"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": "true"}
        elif is_api:
            allowed = {"Access-Control-Allow-Origin": "*"}
        else:
            return {}
        asked = {
            "Access-Control-Allow-Methods": _METHODS,
            "Access-Control-Allow-Headers": _ASKED,
            "Access-Control-Max-Age": _MAX_AGE,
        }
        return {**allowed, **(asked if preflight else {"Access-Control-Expose-Headers": _SHOWN})}


_VARY = encode({"Vary": "Origin, Accept-Encoding"})
_MIN_PACKED, _GZIP_LEVEL = 1000, 4
_MAX_PACKED_AT_ONCE = 64_000  # bytes; compressing more would hold the reactor up

Long = Stream | Download | FileResponse | PiecesResponse


@attrs.frozen(eq=False)
class ResponseWriter:
    """Sends responses of every kind. ``send`` is for those whose body is no value in memory."""

    _negotiator: Negotiator
    _cors: Cors
    _streams: Streams
    _downloads: Downloads
    _worker_thread: WorkerThread
    _costly: CostlyRequests

    async def send(self, incoming: Incoming, answer: Long) -> None:
        """Returns when all is sent. Before anything is sent, errors become an error response."""
        if isinstance(answer, Stream):
            await self._stream(incoming, answer)
        elif isinstance(answer, Download):
            await self._download(incoming, answer)
        elif isinstance(answer, FileResponse):
            await self._file(incoming, answer)
        else:
            await self._pieces(incoming, answer)

    async def finish(self, incoming: Incoming, body: bytes | None) -> bytes:
        """What is left to send of a whole body. A long one has been sent from the disk, so nothing is left.

        None: all has been sent.
        """
        if body is None:
            return b""
        self._costly.answered(incoming, incoming.request.route, len(body))
        request, body = incoming.request, await self._finished(incoming, body)
        if request.code not in (204, 304):  # those have no body, and say nothing of its length (RFC 9110, 8.6)
            set_headers(request.responseHeaders, ((b"Content-Length", b"%d" % len(body)),))
        if len(body) < LONG or incoming.method == "HEAD":
            return body
        length, file = len(body), await self._worker_thread.do_soon(spill_body, body)  # a busy disk makes a write wait
        body = b""  # not kept while a slow client takes it
        await self._downloads.send(request, b"", pieces_of(file, 0, length))
        return b""

    async def _stream(self, incoming: Incoming, answer: Stream) -> None:
        place = network(incoming.address)
        self._streams.require_room(place)
        self._negotiator.write(incoming, answer)
        await self._finished(incoming, b"")
        if incoming.method != "HEAD":
            framing = LINES if answer.lines else EVENTS
            await self._streams.serve(incoming.request, place, answer.begin, framing)

    async def _download(self, incoming: Incoming, answer: Download) -> None:
        first = b"" if incoming.method == "HEAD" else await anext(answer.parts, b"")
        self._negotiator.write(incoming, answer)
        await self._finished(incoming, b"")
        if incoming.method == "HEAD":
            return
        parts, headers = answer.parts, incoming.request.responseHeaders
        coding = best_coding(incoming.header("accept-encoding"), offered_codings())
        if coding and is_text(headers) and not incoming.header("range"):
            _mark_packed(headers, coding)
            parts = packed_parts(first, parts, self._worker_thread, coding)
            first = await anext(parts)
        await self._downloads.send(incoming.request, first, parts)

    async def _file(self, incoming: Incoming, answer: FileResponse) -> None:
        source = answer.path.open("rb")
        self._negotiator.write(incoming, answer)
        await self._finished(incoming, b"")
        set_headers(incoming.request.responseHeaders, ((b"Content-Length", b"%d" % (answer.end - answer.begin)),))
        if incoming.method != "HEAD":
            await self._downloads.send(incoming.request, b"", pieces_of(source, answer.begin, answer.end))
        source.close()

    async def _pieces(self, incoming: Incoming, answer: PiecesResponse) -> None:
        first = b"" if incoming.method == "HEAD" else await anext(answer.pieces, b"")
        self._negotiator.write(incoming, answer)
        await self._finished(incoming, b"")
        set_headers(incoming.request.responseHeaders, ((b"Content-Length", b"%d" % answer.length),))
        if incoming.method != "HEAD":
            await self._downloads.send(incoming.request, first, answer.pieces)

    async def _finished(self, incoming: Incoming, body: bytes) -> bytes:
        """The body as it goes out: not at all when the client has it, compressed when that helps.

        Headers are complete before a large body is compressed in a thread.
        """
        request, preflight = incoming.request, incoming.method == "OPTIONS"
        origin, headers = incoming.header("origin"), request.responseHeaders
        if origin:
            for name, value in self._cors.headers(origin, is_api=incoming.is_api, preflight=preflight).items():
                request.setHeader(name, value)
        if request.code == 304:  # ``NotModified`` has the headers that it needs
            return body
        tags = values_of(headers, b"ETag")
        entity_tag = tags[0].decode() if tags else ""
        _vary_more(headers)
        fresh = incoming.method in ("GET", "HEAD") and request.code == 200 and entity_tag
        if fresh and matches_etag(incoming.header("if-none-match"), entity_tag):
            request.setResponseCode(304)
            return b""
        if not worth_packing(headers, body, incoming.header("accept-encoding")):
            return body
        if entity_tag:
            request.setHeader("ETag", coded_etag(entity_tag))
        request.setHeader("Content-Encoding", "gzip")
        if len(body) > _MAX_PACKED_AT_ONCE:
            return await self._worker_thread.do_soon(_packed, body)
        return _packed(body)


def fixed(answer: BytesResponse) -> FixedResponse:
    """A short response as it goes out to everybody who is not on a page of another site."""
    headers = {**answer.headers, "Content-Type": answer.content_type, "Content-Length": str(len(answer.body))}
    return FixedResponse(answer.body, (*encode(headers), *_VARY))


def worth_packing(headers: Headers, body: bytes, accepted: str) -> bool:
    """Whether a body is text, long enough, and wanted compressed."""
    if len(body) < _MIN_PACKED or headers.hasHeader(b"content-encoding") or not accepts_gzip(accepted):
        return False
    return is_text(headers)


def is_text(headers: Headers) -> bool:
    """Whether a response is of a type that is worth compressing."""
    type_: bytes = headers.getRawHeaders(b"content-type", [b""])[0]
    return type_.startswith((b"text/", b"application/json", b"application/x-ndjson"))


def _mark_packed(headers: Headers, coding: str) -> None:
    entity_tag = headers.getRawHeaders(b"etag", [b""])[0].decode()
    if entity_tag:
        headers.setRawHeaders(b"etag", [coded_etag(entity_tag, coding).encode()])
        headers.setRawHeaders(b"accept-ranges", [b"none"])
    headers.setRawHeaders(b"content-encoding", [coding.encode()])


def _packed(body: bytes) -> bytes:
    return gzip.compress(body, _GZIP_LEVEL, mtime=0)


def _vary_more(headers: Headers) -> None:
    """Says that every answer depends on who asks for it from where, and on the codings that they accept."""
    lines = values_of(headers, b"Vary")
    set_headers(headers, _vary(tuple(lines)) if lines else _VARY)


@lru_cache(50)
def _vary(lines: tuple[bytes, ...]) -> EncodedHeaders:
    named = [word.strip() for line in lines for word in line.decode().split(",")]
    return encode({"Vary": ", ".join(dict.fromkeys([*named, "Origin", "Accept-Encoding"]))})
