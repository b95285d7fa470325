"""HTTP/1.1 as Twisted speaks it, but clients get an error response before a connection is closed."""

from __future__ import annotations

from typing import Protocol, cast

from twisted.internet.interfaces import IAddress, IConsumer, IDelayedCall, IPushProducer, ISystemHandle, ITCPTransport
from twisted.internet.protocol import connectionDone
from twisted.internet.tcp import Connection
from twisted.python.failure import Failure
from twisted.web.http import HTTPChannel
from twisted.web.http import Request as TwistedRequest
from twisted.web.http_headers import Headers

from crowdd.http.edge.headers import Hosts, PlainHead, add_headers, head_error, head_text, plain_head, values_of
from crowdd.http.errors import bare_refusal
from crowdd.kernel.errors import CrowddError, InvalidRequestError, MisdirectedError, TooLargeError

LINGER_SECONDS = 2
HEAD_SECONDS = 30.0  # for the lines before the body
MIN_RATE = 10_000  # bytes of a body a second, beyond that time
MAX_BODY_SECONDS = 300.0  # for a body, at whatever rate it comes
MAX_IMPORT_SECONDS = 1800.0


class IConnection(ITCPTransport, IConsumer, ISystemHandle):
    """What transports of connections provide, with TLS as well."""


class Listener(Protocol):
    """The site, as its connections know it."""

    hosts: Hosts

    def seconds(self) -> float: ...
    def takes_at_once(self, target: bytes, length: int) -> bool: ...
    def arrived(self, channel: Channel) -> None: ...
    def left(self, channel: Channel) -> None: ...
    def look_again(self) -> None: ...


class Arriving(Protocol):
    """A request, as its connection knows it."""

    requestHeaders: Headers

    def begin(self, method: bytes, target: bytes, body: bytes) -> None: ...
    def turn_away(self, error: Exception) -> None: ...


class Channel(HTTPChannel):
    """One connection. ``site`` knows it while it is open."""

    site: Listener
    transport: IConnection
    _refused = False
    _hanging_up: IDelayedCall | None = None
    _began: float | None = None  # when the request that is arriving began
    _came = 0  # bytes of it
    _quiet_since: float | None = None  # since when no data has come, while the connection may time out
    _ends: tuple[IAddress, IAddress] | None = None
    body_seconds = MAX_BODY_SECONDS
    _networkProducer: IPushProducer
    network = ""  # the network that it counts for; "" for a trusted proxy

    def connectionMade(self) -> None:
        self.site.arrived(self)
        super().connectionMade()

    def getHost(self) -> IAddress:
        """The local address. It is kept, because Twisted asks the system for it in every request."""
        return self._both_ends()[0]

    def getPeer(self) -> IAddress:
        """The address of the client."""
        return self._both_ends()[1]

    def _both_ends(self) -> tuple[IAddress, IAddress]:
        if self._ends is None:
            self._ends = super().getHost(), super().getPeer()
        return self._ends

    def is_late(self, now: float) -> bool:
        """Whether a request takes too long to arrive. A larger body may take longer."""
        if self._began is None:
            return False
        return now - self._began > HEAD_SECONDS + min(self._came / MIN_RATE, self.body_seconds)

    @property
    def is_receiving(self) -> bool:
        """Whether a request is arriving."""
        return self._began is not None

    def complete(self) -> None:
        """The request has arrived."""
        self._began, self._came, self.body_seconds = None, 0, MAX_BODY_SECONDS

    def restart(self) -> None:
        """Count the time of a body that waited for its turn from now on."""
        if self._began is not None:
            self._began = self.site.seconds()

    def hold(self) -> None:
        """Pause reading."""
        self._networkProducer.pauseProducing()

    def go_on(self, *, expected: bool) -> None:
        """Resume reading. ``expected``: the client waits for 100 Continue."""
        if expected:
            self._send100Continue()
        self._networkProducer.resumeProducing()

    def close_after_answer(self) -> None:
        """Close the connection after the current response, or at once if there is none."""
        self.persistent = False
        if not self._handlingRequest and self._began is None:
            self.transport.loseConnection()

    def allContentReceived(self) -> None:
        self.complete()
        super().allContentReceived()
        self.site.look_again()

    def setTimeout(self, period: int | None) -> int | None:
        """Close the connection after so many seconds without data; None: never. Returns what held before.

        The site looks at all connections every few seconds. Twisted plans a call for each connection, and moves and
        cancels it in each request.
        """
        before, self.timeOut = self.timeOut, period
        self._quiet_since = None if period is None else self.site.seconds()
        return before

    def resetTimeout(self) -> None:
        """Count the seconds without data from now on."""
        if self._quiet_since is not None:
            self._quiet_since = self.site.seconds()

    def is_idle(self, now: float) -> bool:
        """Whether nothing has come for longer than it may."""
        if self._quiet_since is None or self.timeOut is None:
            return False
        return now - self._quiet_since >= self.timeOut

    def timeoutConnection(self) -> None:
        """Close a timed-out connection as Twisted does, without logging the peer."""
        self._quiet_since = None
        if self.abortTimeout is not None:
            self._abortingCall = self.callLater(self.abortTimeout, self.forceAbortClient)
        self.loseConnection()

    def forceAbortClient(self) -> None:
        """Abort the connection as Twisted does, without logging the peer."""
        self._abortingCall = None
        self.transport.abortConnection()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.site.left(self)
        if self._hanging_up is not None and self._hanging_up.active():
            self._hanging_up.cancel()
        super().connectionLost(reason)

    def dataReceived(self, data: bytes) -> None:
        if self._refused:
            return
        if self._began is None and not self._handlingRequest:
            self._began = self.site.seconds()
        self._came += len(data)
        head = plain_head(data) if self._is_between_requests() else None
        if head is None or (head.body and not self.site.takes_at_once(head.target, len(head.body))):
            super().dataReceived(data)
        else:
            self._take(head)

    def _is_between_requests(self) -> bool:
        return bool(self.line_mode and self.persistent and not self.requests and not self._buffer)

    def _take(self, head: PlainHead) -> None:
        """Begin a request that came at once, as most do.

        Twisted does the same line by line, which takes a third of the time of a request that needs nothing else.
        """
        request = cast(Arriving, self.requestFactory(self))
        self.requests.append(request)
        headers = request.requestHeaders
        add_headers(headers, head.headers)
        error = self._head_error(head.target, b"HTTP/1.1", headers)
        if error is not None:
            self._command, self._path = head.method, head.target
            request.turn_away(error)
            return
        self.persistent = self.checkPersistence(request, b"HTTP/1.1")
        self.complete()
        self._savedTimeOut = self.setTimeout(None)
        self._handlingRequest = True
        self.setRawMode()  # until the response is sent, what comes is kept
        request.begin(head.method, head.target, head.body)
        self.site.look_again()

    def lineReceived(self, line: bytes) -> None:
        """Refuse a header that continues on the next line, which proxies read differently (RFC 9112, 5.2)."""
        if line[:1] in (b" ", b"\t"):
            self.refuse(InvalidRequestError("A header continues on a second line."))
        else:
            super().lineReceived(line)

    def allHeadersReceived(self) -> None:
        error = self._head_error(self._path, self._version, self.requests[-1].requestHeaders)
        if error is None:
            super().allHeadersReceived()
        else:
            self.requests[-1].turn_away(error)

    def _head_error(self, target: bytes, version: bytes, headers: Headers) -> CrowddError | None:
        raw = headers._rawHeaders
        hosts = raw.get(b"Host", ())
        wrong = head_error(version, hosts, raw.get(b"Transfer-Encoding", ()))
        if wrong:
            return InvalidRequestError(wrong)
        here = getattr(self.getHost(), "host", "") or "localhost"
        if not self.site.hosts.allow(target, hosts[0] if hosts else None, here):
            return MisdirectedError("This server does not use this host name.")
        return None

    def checkPersistence(self, request: TwistedRequest | Arriving, version: bytes) -> bool:
        """Whether the connection stays open, as Twisted decides."""
        if version == b"HTTP/1.1" and not values_of(request.requestHeaders, b"Connection"):
            return True
        return bool(super().checkPersistence(request, version))

    def send(self, data: bytes) -> None:
        """Send a whole response, at once where the socket takes it.

        Twisted would wait for the reactor to say that the socket takes it: two system calls and an event for each
        response.
        """
        transport = self.transport
        if isinstance(transport, Connection) and _is_idle(transport):
            sent = transport.writeSomeData(data)
            # What cannot be sent because the connection is lost is written below, so that Twisted notices it.
            data = data[sent:] if isinstance(sent, int) and sent > 0 else data
        if data:
            transport.write(data)

    def writeHeaders(self, version: bytes, code: bytes, reason: bytes, headers: Headers) -> None:
        """Write the head as one text: Twisted writes, and checks, each name, value and separator."""
        self.write(head_text(version, code, reason, headers))

    def lineLengthExceeded(self, line: bytes) -> None:
        """Refuse a long line. Twisted would close the connection without a response."""
        self.refuse(TooLargeError(f"The address or a header is longer than {self.MAX_LENGTH:,} bytes."))

    def _respondToBadRequestAndDisconnect(self) -> None:
        """Refuse a malformed request. Twisted's own response has no body."""
        if self._receivedHeaderSize > self.totalHeadersSize:
            self.refuse(TooLargeError(f"Address and headers are longer than {self.totalHeadersSize:,} bytes."))
        else:
            self.refuse(InvalidRequestError("Malformed HTTP request."))

    def refuse(self, error: Exception) -> None:
        """Send an error response and close the connection.

        For some seconds, further data of the client is read and dropped. Closing a connection with unread data would
        discard the response.
        """
        if self._refused:
            return
        self._refused = True
        self.complete()
        method, address = getattr(self, "_command", b"GET"), getattr(self, "_path", b"/api")
        self.clearLineBuffer()
        self.setTimeout(None)
        self.transport.write(bare_refusal(error, method, address))
        self.transport.unregisterProducer()
        self._end_writing()
        self._hanging_up = self.callLater(LINGER_SECONDS, self.transport.abortConnection)

    def _end_writing(self) -> None:
        # TLS has its own end of data, which closing the socket would overtake.
        if self.isSecure():
            self.transport.loseConnection()
        else:
            self.transport.loseWriteConnection()


def _is_idle(transport: Connection) -> bool:
    """Whether a connection is open, and has nothing left to send."""
    return bool(
        transport.connected
        and not transport.disconnecting
        and not transport.dataBuffer
        and not transport._tempDataBuffer
    )
