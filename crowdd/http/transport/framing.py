"""What a request's head must be like for everybody on the way to agree on where the request ends (RFC 9112)."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.http.transport.hosts import name_of


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
