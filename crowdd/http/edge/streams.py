"""Streams of server-sent events (HTML standard, 9.2) and of lines: their number, slow clients, and how streams end.

A client that does not read costs one full buffer, and is disconnected if the buffer stays full. This module does not
know what the events mean.
"""

from __future__ import annotations

import random
import socket
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress

import attrs
import orjson
from twisted.internet.abstract import FileDescriptor
from twisted.internet.defer import Deferred, ensureDeferred, succeed
from twisted.internet.interfaces import IDelayedCall, IReactorTime, ITransport
from twisted.logger import Logger

from crowdd.http.edge.server_request import Request
from crowdd.kernel.config.limits import LiveSettings
from crowdd.kernel.errors import CrowddError, TooManyRequestsError, UnavailableError

log = Logger()
_SEND_BUFFER = 65_536  # bytes in the kernel for each client; it would grow to megabytes
_BACK_AFTER = (1000, 4000)  # milliseconds, random, so that clients do not all reconnect at once


def event(name: str, value: object, number: int | None = None) -> bytes:
    """One event as bytes. With a number, clients can resume after it (``Last-Event-ID``)."""
    numbered = b"" if number is None else b"id: %d\n" % number
    return numbered + b"event: " + name.encode() + b"\ndata: " + orjson.dumps(value) + b"\n\n"


def _retry() -> bytes:
    """Says when to reconnect."""
    return b"retry: %d\n\n" % random.randint(*_BACK_AFTER)  # noqa: S311


@attrs.frozen
class Framing:
    """What a stream sends of its own: at its beginning, without events, at its end, and when the server stops."""

    begin: Callable[[], bytes]
    heartbeat: bytes
    end: Callable[[], bytes]
    restart: bytes


EVENTS = Framing(_retry, b":\n\n", _retry, event("restart", {}))
LINES = Framing(lambda: b"\n", b"\n", lambda: b"", b"")
"""Lines of JSON (NDJSON), which ignores empty lines."""


def _nothing() -> None:
    """Do nothing."""


class SseConnection:
    """One open stream, a producer for its connection.

    ``full``: the buffer is full; ``ready`` is called when it has room again. ``judge`` is awaited at every heartbeat,
    and before what only some may know (``may_listen``), and raises when the client may no longer listen.
    """

    __slots__ = (
        "_streams",
        "ended",
        "framing",
        "full",
        "full_since",
        "judge",
        "judged",
        "over",
        "ready",
        "request",
        "stop",
    )

    def __init__(self, streams: Streams, request: Request, framing: Framing) -> None:
        self._streams, self.request, self.framing = streams, request, framing
        self.full, self.full_since, self.ended = False, 0.0, False
        self.ready: Callable[[], None] = _nothing
        self.stop: Callable[[], None] = _nothing
        self.judge: Callable[[], Awaitable[None]] | None = None
        self.judged = True
        self.over: Deferred[None] = Deferred()

    def send(self, data: bytes) -> None:
        """Write events, unless the stream has ended. Check ``full`` before sending much."""
        if self.ended or not data:  # an empty chunk would end the response
            return
        request = self.request
        if request.startedWriting:
            _write_now(request.channel.transport, b"%x\r\n%b\r\n" % (len(data), data) if request.chunked else data)
        else:
            request.write(data)

    def end(self, last: bytes = b"") -> None:
        """End the stream and let browsers reconnect after a moment. A second call does nothing."""
        if self.full:
            return self.abort()
        self.send(last + self.framing.end())
        return self._streams.leave(self)

    def abort(self) -> None:
        """Abort the connection. Unsent data is dropped."""
        if not self.ended:
            self.request.channel.transport.abortConnection()

    async def may_listen(self) -> bool:
        """Ask ``judge``, and end the stream of a client that may no longer listen. Raise UnavailableError."""
        try:
            if self.judge is not None:
                await self.judge()
        except UnavailableError:
            raise  # nothing new can be read for it until the database is back
        except CrowddError:
            self.end()
        except Exception:
            if not self.ended:
                log.failure("could not check a subscriber's permission, stream closed")
            self.end()
        return not self.ended

    def pauseProducing(self) -> None:
        self.full, self.full_since = True, self._streams.seconds()

    def resumeProducing(self) -> None:
        self.full = False
        self.ready()

    def stopProducing(self) -> None:
        """Do nothing: ``notifyFinish`` reports the lost connection."""


class Streams:
    """All open streams of this process."""

    def __init__(self, clock: IReactorTime, settings: LiveSettings) -> None:
        self._clock, self._settings = clock, settings
        self._per_address: Counter[str] = Counter()
        # Each second, one part of the clients gets a heartbeat.
        self._parts: list[set[SseConnection]] = [set() for _ in range(settings.heartbeat_seconds)]
        self._clients: dict[SseConnection, tuple[str, set[SseConnection]]] = {}  # with address and part
        self._next_part = 0
        self._tick: IDelayedCall | None = None
        self._closed = False

    def __len__(self) -> int:
        return len(self._clients)

    def seconds(self) -> float:
        """Now."""
        return float(self._clock.seconds())

    def require_room(self, address: str) -> None:
        """Raise UnavailableError for too many streams, TooManyRequestsError for too many of this address."""
        if self._closed or len(self) >= self._settings.max_streams:
            raise UnavailableError("The server has too many open streams.", retry_after=30)
        if self._per_address[address] >= self._settings.max_streams_per_address:
            maximum = self._settings.max_streams_per_address
            raise TooManyRequestsError(
                f"{maximum} streams are already open from your network.", retry_after=30, code="too_many_streams"
            )

    def serve(
        self,
        request: Request,
        address: str,
        begin: Callable[[SseConnection], Callable[[], None]],
        framing: Framing = EVENTS,
    ) -> Deferred[None]:
        """Serve a request as a stream, after its headers are set. Fires when the stream has ended."""
        client = SseConnection(self, request, framing)
        if request.gone:  # while the handler asked the database
            return succeed(None)
        self._enter(client, address)
        request.notifyFinish().addBoth(lambda _: self.leave(client))
        _narrow(request)
        request.registerProducer(client, True)
        client.send(framing.begin())
        try:
            client.stop = begin(client)
        except Exception:
            log.failure("could not start a stream")
            client.abort()
        return client.over

    def leave(self, client: SseConnection) -> None:
        """Count an ended stream and finish its request. A second call does nothing."""
        if client.ended:
            return
        client.ended = True
        self._forget(client)
        client.stop()
        client.ready = client.stop = _nothing
        client.judge = None
        with suppress(AttributeError):  # the connection is closed and has no producer any more
            client.request.unregisterProducer()
        client.over.callback(None)

    def close(self) -> None:
        """Tell all clients that the server restarts, and end every stream."""
        self._closed = True
        if self._tick is not None:
            self._tick.cancel()
            self._tick = None
        for client in list(self._clients):
            client.end(client.framing.restart)

    def _enter(self, client: SseConnection, address: str) -> None:
        part = min(self._parts, key=len)
        part.add(client)
        self._clients[client] = (address, part)
        self._per_address[address] += 1
        if self._tick is None:
            self._tick = self._clock.callLater(1, self._heartbeat)

    def _forget(self, client: SseConnection) -> None:
        address, part = self._clients.pop(client)
        part.discard(client)
        self._per_address[address] -= 1
        if not self._per_address[address]:
            del self._per_address[address]

    def _heartbeat(self) -> None:
        self._tick = self._clock.callLater(1, self._heartbeat) if self._clients else None
        self._next_part = (self._next_part + 1) % len(self._parts)
        for client in list(self._parts[self._next_part]):
            if client.judge is not None and client.judged:
                client.judged = False
                ensureDeferred(_judge(client))
            if not client.full:
                client.send(client.framing.heartbeat)
        for client in [one for one in self._clients if one.full]:
            if self.seconds() - client.full_since > self._settings.stalled_timeout:
                client.abort()


async def _judge(client: SseConnection) -> None:
    try:
        with suppress(UnavailableError):
            await client.may_listen()
    finally:
        client.judged = True


def _write_now(transport: ITransport, data: bytes) -> None:
    """Write at once if the buffer is empty, without waiting for the reactor. This saves a third for thousands.

    Only a plain connection can do so. TLS has to encrypt the data first.
    """
    sent: int | BaseException = 0
    plain = transport if isinstance(transport, FileDescriptor) else None
    if plain is not None and getattr(plain, "_tempDataBuffer", data) == [] and not plain.dataBuffer:
        sent = plain.writeSomeData(data)
    if sent != len(data):
        transport.write(data[sent:] if isinstance(sent, int) else data)  # write() reports an error, too


def _narrow(request: Request) -> None:
    """Close the connection after this request, and give it a small send buffer."""
    request.channel.persistent = False
    with suppress(AttributeError, OSError):
        handle = request.channel.transport.getHandle()
        if isinstance(handle, socket.socket):
            handle.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
