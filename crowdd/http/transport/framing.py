"""What a request's head must be like for everybody on the way to agree on where the request ends (RFC 9112)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from crowdd.http.transport.hosts import name_of

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
# No way to write the same text matches twice, so that looking is linear.
_PLAIN = re.compile(rb"(GET|HEAD) ([\x21-\x7e]+) HTTP/1\.1\r\n((?:%b:[^\x00\r\n]*\r\n){1,60})\r\n" % _TOKEN)
_MAX_PLAIN = 8192  # bytes
_OF_BODIES = re.compile(rb"(?:^|\n)(?:content-length|transfer-encoding|expect):", re.IGNORECASE)


@attrs.frozen
class PlainHead:
    """A request without a body: method, target, and names and values of headers in their order."""

    method: bytes
    target: bytes
    headers: list[tuple[bytes, bytes]]


def plain_head(data: bytes) -> PlainHead | None:
    """What ``data`` says if it is one whole request without a body, beyond doubt, and nothing else; otherwise None."""
    match = _PLAIN.fullmatch(data) if len(data) <= _MAX_PLAIN else None
    if match is None or _OF_BODIES.search(match[3]):
        return None
    lines = (line.partition(b":") for line in match[3].split(b"\r\n")[:-1])
    return PlainHead(match[1], match[2], [(name, value.strip(b" \t")) for name, _, value in lines])


def head_error(version: bytes, hosts: Sequence[bytes], codings: Sequence[bytes]) -> str:
    """What is wrong with the values of Host and Transfer-Encoding, "" when nothing is."""
    if len(hosts) > 1:
        return "The request has more than one Host header."
    if not hosts and version == b"HTTP/1.1":
        return "The Host header is missing."
    if hosts and name_of(hosts[0]) is None:
        return "The Host header is malformed."
    if codings and version != b"HTTP/1.1":
        return "Transfer-Encoding needs HTTP/1.1."
    if codings and [coding.lower() for coding in codings] != [b"chunked"]:
        return "Transfer-Encoding must be chunked, once."
    return ""
