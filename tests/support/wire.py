"""Requests as bytes, for what no well-behaved client sends."""

from __future__ import annotations

import select
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import orjson
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import TCP4ClientEndpoint, connectProtocol
from twisted.internet.protocol import Protocol


class Wire(Protocol):
    """Sends what it is given and keeps what comes until the server closes."""

    def __init__(self, sent: bytes) -> None:
        self.sent, self.got, self.closed = sent, b"", Deferred()

    def connectionMade(self) -> None:
        self.transport.write(self.sent)

    def dataReceived(self, data: bytes) -> None:
        self.got += data

    def connectionLost(self, reason: Any) -> None:
        self.closed.callback(self.got)


def stalled(requests: Iterable[Any]) -> int:
    """How many of a server's requests have a connection that takes no more: what fits on the way has gone."""
    taking = select.poll()
    numbers = [request.channel.transport.fileno() for request in requests]
    for number in numbers:
        taking.register(number, select.POLLOUT)
    return len(numbers) - len(taking.poll(0))


async def connect(base: str, sent: bytes, source: str = "127.0.0.1") -> Wire:
    """A connection from an address of this machine on which these bytes have been sent."""
    where = urlsplit(base)
    endpoint = TCP4ClientEndpoint(reactor, where.hostname, where.port, bindAddress=(source, 0))
    return await connectProtocol(endpoint, Wire(sent))


async def exchange(base: str, sent: bytes) -> bytes:
    """Everything that the server answers to these bytes until it closes the connection."""
    wire = await connect(base, sent)
    return await wire.closed.addTimeout(60, reactor)


async def request(base: str, line: bytes, *headers: bytes, body: bytes = b"") -> tuple[int, bytes]:
    """Status and body of one request; ``line`` is the method and the address as bytes."""
    host = [] if any(h.lower().startswith(b"host:") for h in headers) else [b"Host: localhost"]
    lines = [line + b" HTTP/1.1", *host, b"Connection: close", *headers]
    if body and not any(h.lower().startswith((b"content-length", b"transfer-encoding")) for h in headers):
        lines.append(b"Content-Length: %d" % len(body))
    answer = await exchange(base, b"\r\n".join(lines) + b"\r\n\r\n" + body)
    head, _, rest = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), rest


def error_of(body: bytes) -> dict[str, Any]:
    """The error object of a refused API request."""
    error: dict[str, Any] = orjson.loads(body)
    assert error["status"] == "failed", error
    return error
