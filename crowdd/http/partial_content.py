"""A file whose content never changes, whole or in part, as a client asks for it (RFC 9110, 13 and 14)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Response
from crowdd.http.transport import ranges
from crowdd.http.transport.request_headers import matches

Sent = Callable[[int, int, int, dict[str, str]], Response]
"""The response with the bytes from a begin to an end, with this status and these headers."""


def answered(
    incoming: Incoming, etag: str, size: int, content_type: str, headers: Mapping[str, str], sent: Sent
) -> Response:
    """The file, the part of it that the client asks for, or that it has it already. ``etag`` has its quotes."""
    response_headers = {**headers, "ETag": etag, "Accept-Ranges": "bytes"}
    if matches(incoming.header("if-none-match"), etag):
        return BytesResponse(b"", content_type, 304, response_headers)
    part = None
    if incoming.header("if-range") in ("", etag):
        try:
            part = ranges.wanted(incoming.header("range"), size)
        except ValueError:
            return BytesResponse(b"", content_type, 416, {**response_headers, "Content-Range": f"bytes */{size}"})
    if part is None:
        return sent(0, size, 200, response_headers)
    return sent(*part, 206, {**response_headers, "Content-Range": f"bytes {part[0]}-{part[1] - 1}/{size}"})
