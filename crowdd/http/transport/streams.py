"""Streams of events to many clients (server-sent events, HTML standard 9.2): how many, how slow, and how they end.

A client that does not read costs what its connection may buffer and is cut off when that stays full. Nothing here knows
what the events are about.
"""

from __future__ import annotations

import random
import socket
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import orjson
from twisted.internet.abstract import FileDescriptor
from twisted.internet.defer import Deferred, ensureDeferred, succeed
from twisted.internet.interfaces import IDelayedCall, IReactorTime, ITransport
from twisted.logger import Logger

from crowdd.config import LiveSettings
from crowdd.errors import CrowddError, TooManyRequestsError, UnavailableError

if TYPE_CHECKING:
    from crowdd.http.transport.site import Request

log = Logger()
_HEARTBEAT = b":\n\n"
_SEND_BUFFER = 65_536  # bytes in the kernel for each client; it would grow to megabytes
_BACK_AFTER = (1000, 4000)  # milliseconds; clients that were all cut off do not come back all at once


def event(name: str, value: object, number: int | None = None) -> bytes:
    """One event on the wire; with a number it is a place to go on from (``Last-Event-ID``)."""
    numbered = b"" if number is None else b"id: %d\n" % number
    return numbered + b"event: " + name.encode() + b"\ndata: " + orjson.dumps(value) + b"\n\n"


def _nothing() -> None:
    """Nobody waits."""


class SseConnection:
    """One open stream, a producer for its connection.

    ``full``: what was sent has not left yet; ``ready`` is called when it has. ``judge`` is awaited at every heartbeat
    and raises when the client may listen no longer.
    """

    __slots__ = ("_streams", "ended", "full", "full_since", "judge", "judged", "over", "ready", "request", "stop")

    def __init__(self, streams: Streams, request: Request) -> None:
        self._streams, self.request = streams, request
        self.full, self.full_since, self.ended = False, 0.0, False
        self.ready: Callable[[], None] = _nothing
        self.stop: Callable[[], None] = _nothing
        self.judge: Callable[[], Awaitable[None]] | None = None
        self.judged = True
        self.over: Deferred[None] = Deferred()

    def send(self, data: bytes) -> None:
        """Writes events; for one that has ended nothing happens. Who sends much looks at ``full`` first."""
        if self.ended:
            return
        request = self.request
        if request.startedWriting:
            _write_now(request.channel.transport, b"%x\r\n%b\r\n" % (len(data), data) if request.chunked else data)
        else:
            request.write(data)

    def end(self, last: bytes = b"") -> None:
        """Ends the stream in an orderly way; a browser comes back after a moment. A second time nothing happens."""
        if self.full:
            return self.abort()
        self.send(last + b"retry: %d\n\n" % random.randint(*_BACK_AFTER))  # noqa: S311
        return self._streams.leave(self)

    def abort(self) -> None:
        """Cuts the connection: what was not taken is dropped."""
        if not self.ended:
            self.request.channel.transport.abortConnection()

    def pauseProducing(self) -> None:
        self.full, self.full_since = True, self._streams.seconds()

    def resumeProducing(self) -> None:
        self.full = False
        self.ready()

    def stopProducing(self) -> None:
        """The connection is lost; ``notifyFinish`` tells."""


class Streams:
    """All open streams of this process."""

    def __init__(self, clock: IReactorTime, settings: LiveSettings) -> None:
        self._clock, self._settings = clock, settings
        self._per_address: Counter[str] = Counter()
        # Each second one part of the clients gets its heartbeat.
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
        """Raises UnavailableError when there are too many streams, TooManyRequestsError when the address has."""
        if self._closed or len(self) >= self._settings.connections:
            raise UnavailableError("The server has too many open streams.", retry_after=30)
        if self._per_address[address] >= self._settings.per_address:
            maximum = self._settings.per_address
            raise TooManyRequestsError(
                f"{maximum} streams are already open from your network.", retry_after=30, code="too_many_streams"
            )

    def serve(
        self, request: Request, address: str, begin: Callable[[SseConnection], Callable[[], None]]
    ) -> Deferred[None]:
        """Keeps a request as a stream; fires when it is over, whoever ended it. Its head is set."""
        client = SseConnection(self, request)
        if request.gone:  # while the handler asked the database
            return succeed(None)
        self._enter(client, address)
        request.notifyFinish().addBoth(lambda _: self.leave(client))
        _narrow(request)
        request.registerProducer(client, True)
        client.send(b"retry: %d\n\n" % random.randint(*_BACK_AFTER))  # noqa: S311
        try:
            client.stop = begin(client)
        except Exception:
            log.failure("could not start a stream")
            client.abort()
        return client.over

    def leave(self, client: SseConnection) -> None:
        """Counts a stream out and lets its request end; a second time nothing happens."""
        if client.ended:
            return
        client.ended = True
        self._forget(client)
        client.stop()
        client.ready = client.stop = _nothing
        client.judge = None
        with suppress(AttributeError):  # the connection is gone, and with it what wanted a producer
            client.request.unregisterProducer()
        client.over.callback(None)

    def close(self) -> None:
        """Tells everybody that the server ends, and ends every stream."""
        self._closed = True
        if self._tick is not None:
            self._tick.cancel()
            self._tick = None
        for client in list(self._clients):
            client.end(event("restart", {}))

    def _enter(self, client: SseConnection, address: str) -> None:
        part = min(self._parts, key=len)
        part.add(client)
        self._clients[client] = (address, part)
        self._per_address[address] += 1
        if self._tick is None:
            self._tick = self._clock.callLater(1, self._beat)

    def _forget(self, client: SseConnection) -> None:
        address, part = self._clients.pop(client)
        part.discard(client)
        self._per_address[address] -= 1
        if not self._per_address[address]:
            del self._per_address[address]

    def _beat(self) -> None:
        self._tick = self._clock.callLater(1, self._beat) if self._clients else None
        self._next_part = (self._next_part + 1) % len(self._parts)
        for client in list(self._parts[self._next_part]):
            if client.judge is not None and client.judged:
                client.judged = False
                ensureDeferred(self._judge(client, client.judge))
            if not client.full:
                client.send(_HEARTBEAT)
        for client in [one for one in self._clients if one.full]:
            if self.seconds() - client.full_since > self._settings.stalled_seconds:
                client.abort()

    async def _judge(self, client: SseConnection, judge: Callable[[], Awaitable[None]]) -> None:
        try:
            await judge()
        except UnavailableError:
            pass  # nothing new is read for it either until the database is back
        except CrowddError:
            client.end()
        except Exception:
            if not client.ended:
                log.failure("could not check a subscriber's permission, stream closed")
            client.end()
        finally:
            client.judged = True


def _write_now(transport: ITransport, data: bytes) -> None:
    """Writes, past the reactor where nothing waits to be written: for thousands that is a third of the time.

    What is not the connection itself (TLS is over it) has something to do with the bytes first.
    """
    sent: int | BaseException = 0
    plain = transport if isinstance(transport, FileDescriptor) else None
    if plain is not None and getattr(plain, "_tempDataBuffer", data) == [] and not plain.dataBuffer:
        sent = plain.writeSomeData(data)
    if sent != len(data):
        transport.write(data[sent:] if isinstance(sent, int) else data)  # an error comes up there, too


def _narrow(request: Request) -> None:
    """Makes the connection one that ends with this request and keeps little."""
    request.channel.persistent = False
    with suppress(AttributeError, OSError):
        handle = request.channel.transport.getHandle()
        if isinstance(handle, socket.socket):
            handle.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
