"""A light HTTP/1.1 client: many of them share two cores with the server that they ask."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from typing import Any

import attrs

SECONDS = 3600.0
_END_OF_HEAD = b"\r\n\r\n"
_AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER of 0 seconds: closing sends RST


class LostError(ConnectionError):
    """The connection ended before the answer: nobody knows what became of the request."""


@attrs.frozen
class Response:
    """A whole answer; header names are in lower case, ``cookies`` are the pairs of Set-Cookie."""

    status: int
    headers: Mapping[str, str]
    cookies: tuple[str, ...]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, None where it is no JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


class Wire(asyncio.Protocol):
    """One connection, one request at a time."""

    def __init__(self) -> None:
        self._read = bytearray()
        self._answer: asyncio.Future[Response] | None = None
        self.transport: Any = None

    @classmethod
    async def open(cls, port: int) -> Wire:
        """A connection to the server of this machine. Raises OSError when nobody listens."""
        _, made = await asyncio.get_running_loop().create_connection(cls, "127.0.0.1", port)
        return made

    @property
    def alive(self) -> bool:
        """Whether it has not ended, as far as is known."""
        return not self.transport.is_closing()

    async def ask(self, request: bytes) -> Response:
        """The answer. Raises LostError when the connection ends first, TimeoutError when none comes."""
        self._answer = asyncio.get_running_loop().create_future()
        self.write(request)
        # Not wait_for(), which before Python 3.12 forgets that it was cancelled when the answer comes in the same turn.
        async with asyncio.timeout(SECONDS):
            return await self._answer

    def write(self, part: bytes) -> None:
        """Sends without waiting for anything."""
        self.transport.write(part)

    def close(self, *, reset: bool = False) -> None:
        """Ends the connection at once; with ``reset`` by RST, as a client that crashed does."""
        if reset:
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self.transport.abort()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._read += data
        answer = parse(self._read)
        if answer is not None:
            self._read.clear()
            if self._answer is not None and not self._answer.done():
                self._answer.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(LostError("The connection ended before the answer."))


def parse(read: bytes | bytearray) -> Response | None:
    """The answer in these bytes, None while it is not whole. Its length must be given, but for 204."""
    head, separator, body = bytes(read).partition(_END_OF_HEAD)
    if not separator:
        return None
    status, *lines = head.decode("latin-1").split("\r\n")
    pairs = [(name.strip().lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    headers = dict(pairs)
    code = int(status.split()[1])
    if code != 204 and len(body) < int(headers["content-length"]):
        return None
    cookies = tuple(value.partition(";")[0] for name, value in pairs if name == "set-cookie")
    return Response(code, headers, cookies, body)


class Client:
    """A browser or a program: ``headers`` go with each request, ``query`` is added to each address.

    It keeps its connection and opens another one when that was lost.
    """

    def __init__(self, port: int, headers: Mapping[str, str] | None = None, query: str = "") -> None:
        self.port, self.headers, self.query = port, dict(headers or {}), query
        self._wire: Wire | None = None

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        """One request; ``body`` goes as JSON. ``Accept="text/html"`` names a header. Errors as with ``Wire.ask``."""
        if self._wire is None or not self._wire.alive:
            self._wire = await Wire.open(self.port)
        return await self._wire.ask(self.request(method, path, body, **headers))

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> bytes:
        """The bytes of a request."""
        if self.query:
            path += ("&" if "?" in path else "?") + self.query
        sent = {"Host": f"127.0.0.1:{self.port}", **self.headers, **headers}
        payload = b"" if body is None else json.dumps(body).encode()
        if body is not None:
            sent |= {"Content-Type": "application/json", "Content-Length": str(len(payload))}
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in sent.items())
        return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + payload

    def remember(self, cookies: tuple[str, ...]) -> None:
        """Brings these cookies from now on."""
        self.headers["Cookie"] = "; ".join(filter(None, [self.headers.get("Cookie", ""), *cookies]))

    def close(self, *, reset: bool = False) -> None:
        """Drops the connection in the middle of whatever goes on."""
        if self._wire is not None and self._wire.alive:
            self._wire.close(reset=reset)
