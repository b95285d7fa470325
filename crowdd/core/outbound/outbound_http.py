"""One request to another server, with the body sent as fast as the connection takes it.

The connection goes to an address that ``crowdd.core.outbound.client`` has checked.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from typing import Any

from OpenSSL import SSL
from service_identity import VerificationError
from treq.client import HTTPClient
from twisted.internet import error as network
from twisted.internet.defer import CancelledError, Deferred, ensureDeferred
from twisted.internet.endpoints import TCP4ClientEndpoint, TCP6ClientEndpoint, wrapClientTLS
from twisted.internet.interfaces import IConsumer, IStreamClientEndpoint
from twisted.internet.protocol import Protocol
from twisted.internet.ssl import optionsForClientTLS
from twisted.protocols.policies import ProtocolWrapper, WrappingFactory
from twisted.python.failure import Failure
from twisted.web.client import Agent, HTTPConnectionPool, ResponseFailed
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent, IAgentEndpointFactory, IBodyProducer
from zope.interface import implementer

from crowdd.core.outbound.client import Asked, Response, SentBody
from crowdd.core.outbound.url_policy import Target
from crowdd.kernel.errors import RefusedTargetError
from crowdd.kernel.languages import _
from crowdd.kernel.reactor import IReactor


@implementer(IBodyProducer)
class BodyProducer:
    """Asks for the next piece when the one before has left."""

    def __init__(self, body: SentBody) -> None:
        self.length, self._pieces = body.length, body.pieces
        self._room: Deferred[None] | None = None
        self._stopped = False

    def startProducing(self, consumer: IConsumer) -> Deferred[None]:
        """Fires when all of it is sent; what the pieces raise goes to the request."""
        return ensureDeferred(self._send(consumer))

    async def _send(self, consumer: IConsumer) -> None:
        try:
            async for piece in self._pieces:
                if self._stopped:
                    return
                consumer.write(piece)
                if self._room is not None:
                    await self._room
        finally:
            await self._pieces.aclose()

    def pauseProducing(self) -> None:
        self._room = self._room or Deferred()

    def resumeProducing(self) -> None:
        room, self._room = self._room, None
        if room is not None:
            room.callback(None)

    def stopProducing(self) -> None:
        self._stopped = True
        self.resumeProducing()


CONNECT_SECONDS = 5
_SPARE_BYTES = 262_144  # beside the body: the head, TLS, and what one reading of the socket brings beyond the end
_AGENT = "crowdd"


async def run(reactor: Any, asked: Asked, addresses: Sequence[str], trust_root: Any) -> Response:
    """The answer of the server at one of these addresses, whatever its status; the body may be cut."""
    line = PinnedEndpoint(reactor, asked.target, addresses, asked.max_bytes + _SPARE_BYTES, trust_root)
    pool = HTTPConnectionPool(reactor, persistent=False)
    agent: Any = IdentityEncodingAgent(Agent.usingEndpointFactory(reactor, line, pool))
    client = HTTPClient(agent)
    sent = Headers({"User-Agent": [_AGENT], **{name: [value] for name, value in asked.headers.items()}})
    try:
        response = await client.request(
            asked.method,
            asked.target.url,
            headers=sent,
            data=BodyProducer(asked.body) if isinstance(asked.body, SentBody) else asked.body,
            allow_redirects=False,
            unbuffered=True,
            reactor=reactor,
        )
        if response.code in asked.bodiless:
            content, whole = b"", True
        else:
            content, whole = await collect(response.original, asked.max_bytes, asked.sink)
    finally:
        line.abort()
    raw_headers = {name.decode().lower(): b", ".join(v) for name, v in response.headers.getAllRawHeaders()}
    return Response(
        response.code, {name: v.decode("utf-8", "replace") for name, v in raw_headers.items()}, content, whole
    )


@implementer(IAgentEndpointFactory, IStreamClientEndpoint)
class PinnedEndpoint:
    """The connection of one request: to the first of the checked addresses that takes it, for this target only."""

    def __init__(
        self, reactor: IReactor, target: Target, addresses: Sequence[str], max_bytes: int, trust_root: Any
    ) -> None:
        self._reactor, self._there, self._addresses = reactor, target, addresses
        self._max_bytes, self._trust_root = max_bytes, trust_root
        self._byte_limit: ByteLimit | None = None

    def endpointForURI(self, uri: Any) -> Any:
        """Ourselves, in TLS where the target has it."""
        if (uri.host.decode().strip("[]"), uri.port) != (self._there.host, self._there.port):
            raise RefusedTargetError(_("The address is ambiguous."))
        if self._there.scheme == "http":
            return self
        plain: Any = self
        return wrapClientTLS(optionsForClientTLS(self._there.host, trustRoot=self._trust_root), plain)

    def connect(self, factory: Any) -> Deferred[Any]:
        """Connects and counts what arrives."""
        return ensureDeferred(self._connect(factory))

    async def _connect(self, factory: Any) -> Any:
        metered: Any = WrappingFactory(factory)
        metered.protocol = lambda f, p: ByteLimit(f, p, self._max_bytes)
        self._byte_limit = await self._first_that_answers(metered)
        return self._byte_limit.wrappedProtocol

    async def _first_that_answers(self, factory: Any) -> Any:
        for address in self._addresses[:-1]:
            try:
                return await self._endpoint(address).connect(factory)
            except network.ConnectError:
                continue
        return await self._endpoint(self._addresses[-1]).connect(factory)

    def _endpoint(self, address: str) -> Any:
        endpoint = TCP6ClientEndpoint if ":" in address else TCP4ClientEndpoint
        return endpoint(self._reactor, address, self._there.port, timeout=CONNECT_SECONDS)

    def abort(self) -> None:
        """Ends the connection at once, however far it has come."""
        if self._byte_limit is not None:
            self._byte_limit.abort()


class ByteLimit(ProtocolWrapper):
    """Aborts the connection once it exceeds the byte limit, before anything is buffered."""

    def __init__(self, factory: Any, protocol: Any, max_bytes: int) -> None:
        super().__init__(factory, protocol)
        self._left = max_bytes

    def dataReceived(self, data: bytes) -> None:
        self._left -= len(data)
        if self._left < 0:
            self.abort()
        else:
            super().dataReceived(data)

    def abort(self) -> None:
        """Ends the connection at once."""
        transport: Any = self.transport
        if transport is not None:
            transport.abortConnection()


@implementer(IAgent)
class IdentityEncodingAgent:
    """Has bodies sent as they are: what is unpacked may be a thousand times as large."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent

    def request(self, method: bytes, uri: bytes, headers: Any = None, bodyProducer: Any = None) -> Deferred[Any]:
        """As with any agent."""
        sent = Headers(dict((headers or Headers()).getAllRawHeaders()))
        sent.setRawHeaders(b"Accept-Encoding", [b"identity"])
        return self._agent.request(method, uri, sent, bodyProducer).addCallback(_unpacked)


def _unpacked(response: Any) -> Any:
    response.headers.removeHeader(b"content-encoding")
    return response


def collect(
    response: Any, max_bytes: int, sink: Callable[[bytes], object] | None = None
) -> Deferred[tuple[bytes, bool]]:
    """The first bytes of a body, and whether these are all. With a ``sink`` they go there."""
    body = _Body(max_bytes) if sink is None else _StreamedBody(max_bytes, sink)
    response.deliverBody(body)
    return body.done


class _Body(Protocol):
    def __init__(self, max_bytes: int) -> None:
        self.done: Deferred[tuple[bytes, bool]] = Deferred()
        self._max_bytes, self._received = max_bytes, bytearray()

    def dataReceived(self, data: bytes) -> None:
        self._received += data
        if len(self._received) > self._max_bytes:
            self._finish(bytes(self._received[: self._max_bytes]), False)

    def connectionLost(self, reason: Any = None) -> None:
        if reason is None or reason.check(ResponseFailed) is None:
            self._finish(bytes(self._received), True)
        elif not self.done.called:
            self.done.errback(reason)

    def _finish(self, body: bytes, whole: bool) -> None:
        if not self.done.called:
            self.done.callback((body, whole))


class _StreamedBody(_Body):
    """Passes on what comes, and keeps nothing."""

    def __init__(self, max_bytes: int, sink: Callable[[bytes], object]) -> None:
        super().__init__(max_bytes)
        self._left, self._sink = max_bytes, sink

    def dataReceived(self, data: bytes) -> None:
        if self.done.called:
            return
        try:
            self._sink(data[: self._left])
        except OSError:
            self.done.errback(Failure())
            return
        self._left -= len(data)
        if self._left < 0:
            self._finish(b"", False)


def describe_failure(problem: BaseException, target: Target, seconds: float) -> str:
    """A sentence on why there was no answer, for people."""
    cause, host = innermost(problem), target.host
    match cause:
        case CancelledError() | network.TimeoutError():
            return _("%(host)s did not respond within %(seconds)s seconds.", host=host, seconds=f"{seconds:g}")
        case network.DNSLookupError():
            return _("The host name %(host)s has no address.", host=host)
        case network.ConnectionRefusedError():
            return _("%(host)s port %(port)s refused the connection.", host=host, port=target.port)
        case network.ConnectError():
            return _("%(host)s port %(port)s cannot be reached.", host=host, port=target.port)
        case VerificationError():
            return _("The certificate is not valid for %(host)s.", host=host)
        case SSL.Error() | ssl.SSLError():
            return _("%(host)s: no secure connection could be made (%(reason)s).", host=host, reason=_tls_words(cause))
        case network.ConnectionClosed():
            return _("%(host)s closed the connection before it responded.", host=host)
    return _("%(host)s did not send a valid HTTP response (%(reason)s).", host=host, reason=type(cause).__name__)


def innermost(problem: BaseException) -> BaseException:
    """The first of the reasons that Twisted wraps."""
    while reasons := getattr(problem, "reasons", None):
        problem = reasons[0].value
    return problem


def _tls_words(problem: Any) -> str:
    details = problem.args[0] if problem.args else ""
    return str(details[0][-1] if isinstance(details, list) and details else details) or "TLS failed"
