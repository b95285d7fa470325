"""Headers that are the same in every response, encoded once. Encoding them costs as much as a handler."""

from __future__ import annotations

from collections.abc import Mapping

from twisted.web.http_headers import Headers

EncodedHeaders = tuple[tuple[bytes, bytes], ...]


def encode(headers: Mapping[str, str]) -> EncodedHeaders:
    """The headers for ``set_headers``: names and values as Twisted sends them."""
    made = Headers({name: [value] for name, value in headers.items()})
    return tuple((name, values[0]) for name, values in made.getAllRawHeaders())


def set_headers(headers: Headers, headers_block: EncodedHeaders) -> None:
    """Set encoded headers, and replace other values of the same names."""
    raw = headers._rawHeaders  # its own setter encodes name and value, and looks for line breaks, each time
    for name, value in headers_block:
        raw[name] = [value]
