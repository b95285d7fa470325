"""Headers without the work that Twisted does for each: encoding names and values costs as much as a handler.

Those that are the same in every response are encoded once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

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


def add_headers(headers: Headers, lines: Iterable[tuple[bytes, bytes]]) -> None:
    """Add names and values as they came. Values have no line breaks."""
    raw = headers._rawHeaders
    for name, value in lines:
        raw.setdefault(_as_twisted_writes(name), []).append(value)


@lru_cache(100)
def _as_twisted_writes(name: bytes) -> bytes:
    ((known, _),) = Headers({name: [b""]}).getAllRawHeaders()
    return bytes(known)


def values_of(headers: Headers, name: bytes) -> Sequence[bytes]:
    """The values of a header; ``name`` as Twisted writes it."""
    return headers._rawHeaders.get(name, ())


def head_text(version: bytes, code: bytes, reason: bytes, headers: Headers) -> bytes:
    """The head of a response."""
    lines = [b"%b %b %b\r\n" % (version, code, reason)]
    lines += [b"%b: %b\r\n" % (name, value) for name, values in headers._rawHeaders.items() for value in values]
    lines.append(b"\r\n")
    return b"".join(lines)
