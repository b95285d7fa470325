"""The only way out of the server: requests to addresses that somebody else chose (decision 29).

The name is resolved once, every address that it has is checked, and the connection goes to a checked one: between the
check and the connection nobody is asked again. No redirect is followed, no proxy used, no cookie kept.
"""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs
from OpenSSL import SSL
from service_identity import VerificationError
from treq.client import HTTPClient
from twisted.internet import error as network
from twisted.internet.defer import CancelledError, Deferred, ensureDeferred
from twisted.internet.endpoints import TCP4ClientEndpoint, TCP6ClientEndpoint, wrapClientTLS
from twisted.internet.interfaces import IResolutionReceiver, IStreamClientEndpoint
from twisted.internet.protocol import Protocol
from twisted.internet.ssl import optionsForClientTLS
from twisted.protocols.policies import ProtocolWrapper, WrappingFactory
from twisted.python.failure import Failure
from twisted.web.client import Agent, HTTPConnectionPool, ResponseFailed
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent, IAgentEndpointFactory
from zope.interface import implementer

from crowdd.domain.targets import Target, require_public, target
from crowdd.errors import RefusedTargetError, UnreachableError

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

CONNECT_SECONDS = 5
_SPARE_BYTES = 262_144  # beside the body: the head, TLS, and what one reading of the socket brings beyond the end
_AGENT = "crowdd"


@attrs.frozen
class Reply:
    """What another server answered. ``body`` may have been cut (``whole`` false); header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    whole: bool


class Outgoing:
    """Asks other servers, as far as they are public or the operator's allow-list names their host.

    ``resolve(host, port)`` gives the addresses of a name; ``trust_root`` are the certificates to believe, the system's
    unless given.
    """

    def __init__(
        self, reactor: Any, allowed: Iterable[str], resolve: Resolve | None = None, trust_root: Any = None
    ) -> None:
        self._reactor = reactor
        self._allowed = frozenset(word.lower().strip("[]") for word in allowed)
        self._lookups = Lookups(resolve or SystemNames(reactor).addresses)
        self._trust_root = trust_root

    def target(self, url: str) -> Target:
        """What a URL names; RefusedTargetError when it can be seen without asking anybody that it is refused."""
        return target(url, self._allowed)

    async def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        *,
        seconds: float = 15.0,
        most_bytes: int = 65_536,
        sink: Callable[[bytes], object] | None = None,
    ) -> Reply:
        """The answer of another server, whatever its status; at most ``most_bytes`` of its body are read.

        ``sink`` is given the body piece by piece as it comes; the reply then has none.

        Raises RefusedTargetError before anything was sent, UnreachableError when there is no answer within
        ``seconds``; both say in a sentence why.
        """
        there = self.target(url)
        asking = ensureDeferred(self._ask(method, there, headers or {}, body, most_bytes, sink))
        timer = self._reactor.callLater(seconds, asking.cancel)
        try:
            return await asking
        except RefusedTargetError:
            raise
        except Exception as problem:
            if timer.active() and isinstance(_innermost(problem), CancelledError):
                raise CancelledError from problem  # not the time: nobody wants the answer any more
            raise UnreachableError(why(problem, there, seconds)) from problem
        finally:
            if timer.active():
                timer.cancel()

    async def _ask(
        self,
        method: str,
        there: Target,
        headers: Mapping[str, str],
        body: bytes | None,
        most_bytes: int,
        sink: Callable[[bytes], object] | None,
    ) -> Reply:
        line = Line(self._reactor, there, await self._addresses(there), most_bytes + _SPARE_BYTES, self._trust_root)
        pool = HTTPConnectionPool(self._reactor, persistent=False)
        agent: Any = AsItComes(Agent.usingEndpointFactory(self._reactor, line, pool))
        client = HTTPClient(agent)
        sent = Headers({"User-Agent": [_AGENT], **{name: [value] for name, value in headers.items()}})
        try:
            response = await client.request(
                method,
                there.url,
                headers=sent,
                data=body,
                allow_redirects=False,
                unbuffered=True,
                reactor=self._reactor,
            )
            content, whole = await collect(response.original, most_bytes, sink)
        finally:
            line.hang_up()
        found = {name.decode().lower(): b", ".join(v) for name, v in response.headers.getAllRawHeaders()}
        return Reply(response.code, {name: v.decode("utf-8", "replace") for name, v in found.items()}, content, whole)

    async def _addresses(self, there: Target) -> Sequence[str]:
        """The addresses to connect to, each of them checked."""
        found = await self._lookups.addresses(there.host, there.port)
        if not found:
            raise network.DNSLookupError(there.host)
        if not there.trusted:
            for address in found:
                _require_public(there.host, address)
        return found


def _require_public(host: str, address: str) -> None:
    try:
        require_public(ipaddress.ip_address(address))
    except RefusedTargetError as refused:
        raise RefusedTargetError(f"{host}: {refused}") from None


class Lookups:
    """Names that are being resolved: whoever asks for one meanwhile gets the same answer, so that a slow name server
    holds one thread for each of its names, not one for each request.
    """

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._waiting: dict[tuple[str, int], list[Deferred[Sequence[str]]]] = {}

    async def addresses(self, host: str, port: int) -> Sequence[str]:
        """The addresses of a host."""
        key = (host, port)
        place: Deferred[Sequence[str]] = Deferred(lambda gone: self._leave(key, gone))
        if key in self._waiting:
            self._waiting[key].append(place)
        else:
            self._waiting[key] = [place]
            ensureDeferred(self._look(key))
        return await place

    def _leave(self, key: tuple[str, int], place: Deferred[Sequence[str]]) -> None:
        if place in self._waiting.get(key, []):
            self._waiting[key].remove(place)

    async def _look(self, key: tuple[str, int]) -> None:
        outcome: Any
        try:
            outcome = await self._resolve(*key)
        except Exception:
            outcome = Failure()
        for place in self._waiting.pop(key):
            place.callback(outcome)


class SystemNames:
    """Resolves names as the system does (hosts file, name servers), in the reactor's threads."""

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor

    def addresses(self, host: str, port: int) -> Deferred[Sequence[str]]:
        """The addresses of a name, or of an address itself; none when there is no such name."""
        receiver = _Receiver()
        self._reactor.nameResolver.resolveHostName(receiver, host, port)
        return receiver.done


@implementer(IResolutionReceiver)
class _Receiver:
    def __init__(self) -> None:
        self.done: Deferred[Sequence[str]] = Deferred()
        self._found: list[str] = []

    def resolutionBegan(self, resolutionInProgress: Any) -> None:
        """Nothing to note."""

    def addressResolved(self, address: Any) -> None:
        self._found.append(address.host)

    def resolutionComplete(self) -> None:
        self.done.callback(list(dict.fromkeys(self._found)))


@implementer(IAgentEndpointFactory, IStreamClientEndpoint)
class Line:
    """The connection of one request: to the first of the checked addresses that takes it, for this target only."""

    def __init__(self, reactor: Any, there: Target, addresses: Sequence[str], most_bytes: int, trust_root: Any) -> None:
        self._reactor, self._there, self._addresses = reactor, there, addresses
        self._most_bytes, self._trust_root = most_bytes, trust_root
        self._meter: Meter | None = None

    def endpointForURI(self, uri: Any) -> Any:
        """Ourselves, in TLS where the target has it."""
        if (uri.host.decode().strip("[]"), uri.port) != (self._there.host, self._there.port):
            raise RefusedTargetError("The address was read in two ways.")
        if self._there.scheme == "http":
            return self
        plain: Any = self
        return wrapClientTLS(optionsForClientTLS(self._there.host, trustRoot=self._trust_root), plain)

    def connect(self, factory: Any) -> Deferred[Any]:
        """Connects and counts what arrives."""
        return ensureDeferred(self._connect(factory))

    async def _connect(self, factory: Any) -> Any:
        metered: Any = WrappingFactory(factory)
        metered.protocol = lambda f, p: Meter(f, p, self._most_bytes)
        self._meter = await self._first_that_answers(metered)
        return self._meter.wrappedProtocol

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

    def hang_up(self) -> None:
        """Ends the connection at once, however far it has come."""
        if self._meter is not None:
            self._meter.abort()


class Meter(ProtocolWrapper):
    """Breaks a connection off on which more arrives than was agreed, in front of everybody who might keep it."""

    def __init__(self, factory: Any, protocol: Any, most_bytes: int) -> None:
        super().__init__(factory, protocol)
        self._left = most_bytes

    def dataReceived(self, data: bytes) -> None:
        self._left -= len(data)
        if self._left < 0:
            self.abort()
        else:
            super().dataReceived(data)

    def abort(self) -> None:
        """Ends the connection without a farewell."""
        transport: Any = self.transport
        if transport is not None:
            transport.abortConnection()


@implementer(IAgent)
class AsItComes:
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
    response: Any, most_bytes: int, sink: Callable[[bytes], object] | None = None
) -> Deferred[tuple[bytes, bool]]:
    """The first bytes of a body, and whether these are all. With a ``sink`` they go there."""
    body = _Body(most_bytes) if sink is None else _Poured(most_bytes, sink)
    response.deliverBody(body)
    return body.done


class _Body(Protocol):
    def __init__(self, most_bytes: int) -> None:
        self.done: Deferred[tuple[bytes, bool]] = Deferred()
        self._most_bytes, self._received = most_bytes, bytearray()

    def dataReceived(self, data: bytes) -> None:
        self._received += data
        if len(self._received) > self._most_bytes:
            self._finish(bytes(self._received[: self._most_bytes]), False)

    def connectionLost(self, reason: Any = None) -> None:
        if reason is None or reason.check(ResponseFailed) is None:
            self._finish(bytes(self._received), True)
        elif not self.done.called:
            self.done.errback(reason)

    def _finish(self, body: bytes, whole: bool) -> None:
        if not self.done.called:
            self.done.callback((body, whole))


class _Poured(_Body):
    """Passes on what comes, and keeps nothing."""

    def __init__(self, most_bytes: int, sink: Callable[[bytes], object]) -> None:
        super().__init__(most_bytes)
        self._left, self._sink = most_bytes, sink

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


def why(problem: BaseException, there: Target, seconds: float) -> str:
    """A sentence on why there was no answer, for people."""
    cause = _innermost(problem)
    match cause:
        case CancelledError() | network.TimeoutError():
            return f"{there.host} did not answer within {seconds:g} seconds."
        case network.DNSLookupError():
            return f"The name {there.host} has no address."
        case network.ConnectionRefusedError():
            return f"{there.host} port {there.port} takes no connections."
        case network.ConnectError():
            return f"{there.host} port {there.port} cannot be reached."
        case VerificationError():
            return f"The certificate is not one of {there.host}."
        case SSL.Error() | ssl.SSLError():
            return f"{there.host}: no secure connection could be made ({_tls_words(cause)})."
        case network.ConnectionClosed():
            return f"{there.host} closed the connection before it had answered."
    return f"{there.host} did not answer in HTTP ({type(cause).__name__})."


def _innermost(problem: BaseException) -> BaseException:
    """The first of the reasons that Twisted wraps."""
    while reasons := getattr(problem, "reasons", None):
        problem = reasons[0].value
    return problem


def _tls_words(problem: Any) -> str:
    details = problem.args[0] if problem.args else ""
    return str(details[0][-1] if isinstance(details, list) and details else details) or "TLS failed"
