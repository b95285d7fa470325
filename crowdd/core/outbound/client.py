"""The client for requests to addresses that somebody else chose, their bodies and their responses (record 42).

It is the only way out of the server. The name is resolved once, every address that it has is checked, and the
connection goes to a checked one: between the check and the connection nobody is asked again. A redirect is followed by
``fetch`` alone, which checks each address on the way like the first. No proxy is used, no cookie kept.
``crowdd.core.outbound.outbound_http`` is the part that speaks HTTP.
"""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence, Set
from importlib import import_module
from typing import Any, TypeVar
from urllib.parse import urljoin

import attrs
from twisted.internet import error as network
from twisted.internet.defer import CancelledError, Deferred, ensureDeferred
from twisted.internet.interfaces import IResolutionReceiver
from zope.interface import implementer

from crowdd.core.outbound.url_policy import Target, require_public, target
from crowdd.kernel.concurrency.cache import Flight
from crowdd.kernel.concurrency.timing import deadline
from crowdd.kernel.config.options import endpoints
from crowdd.kernel.errors import RefusedTargetError, UnreachableError
from crowdd.kernel.languages import _
from crowdd.kernel.reactor import IReactor

T = TypeVar("T")


@attrs.frozen
class Response:
    """The response of another server. ``whole`` is false if ``body`` was cut. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    whole: bool


@attrs.frozen(eq=False)
class SentBody:
    """``length`` bytes, which ``pieces`` gives as fast as the connection takes them. It is sent once."""

    length: int
    pieces: AsyncGenerator[bytes, None] = attrs.field(repr=False)


@attrs.frozen(eq=False)
class Asked:
    """What another server is asked. At most ``max_bytes`` of the body of its answer are read, and go to ``sink``.

    The body of an answer with one of the statuses ``bodiless`` is not read.
    """

    method: str
    target: Target
    headers: Mapping[str, str]
    body: bytes | SentBody | None
    max_bytes: int
    sink: Callable[[bytes], object] | None
    bodiless: Set[int] = frozenset()


MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class Outgoing:
    """Asks other servers, as far as they are public or the operator's allow-list names their host and port.

    ``resolve(host, port)`` gives the addresses of a name; ``trust_root`` are the certificates to believe, the system's
    unless given.
    """

    def __init__(
        self, reactor: IReactor, allowed: Iterable[str], resolve: Resolve | None = None, trust_root: object = None
    ) -> None:
        self._reactor = reactor
        self._allowed = frozenset(endpoint for word in allowed for endpoint in endpoints(word))
        self._resolve = resolve or SystemResolver(reactor).addresses
        # A slow name server holds one thread for each of its names, not one for each request.
        self._lookups: Flight[Sequence[str]] = Flight()
        self._trust_root = trust_root

    def target(self, url: str) -> Target:
        """What a URL names; RefusedTargetError when it can be seen without asking anybody that it is refused."""
        return target(url, self._allowed)

    async def require_public(self, url: str, *, seconds: float = 5.0) -> None:
        """Resolves the name in a URL that others will ask, and asks nobody else.

        Raises RefusedTargetError for one that this server would not ask either, UnreachableError for a name that is not
        resolved within ``seconds``.
        """
        target = self.target(url)
        await self._in_time(self._addresses(target), target, seconds)

    async def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | SentBody | None = None,
        *,
        seconds: float = 15.0,
        max_bytes: int = 65_536,
        sink: Callable[[bytes], object] | None = None,
    ) -> Response:
        """The answer of another server, whatever its status; at most ``max_bytes`` of its body are read.

        ``sink`` is given the body piece by piece as it comes; the reply then has none.

        Raises RefusedTargetError before anything was sent, UnreachableError when there is no answer within
        ``seconds``; both say in a sentence why.
        """
        target = self.target(url)
        asking = self._ask(Asked(method, target, headers or {}, body, max_bytes, sink))
        return await self._in_time(asking, target, seconds)

    async def fetch(
        self,
        url: str,
        *,
        seconds: float,
        max_bytes: int,
        sink: Callable[[bytes], object],
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """GET without credentials, over at most MAX_REDIRECTS redirects; ``sink`` gets the body of the last answer.

        Each address is checked like the first, and https leads to https only. ``seconds`` are for all together.
        Raises as ``request``.
        """
        target, end = self.target(url), self._reactor.seconds() + seconds
        for _hop in range(MAX_REDIRECTS + 1):
            asking = self._ask(Asked("GET", target, headers or {}, None, max_bytes, sink, _REDIRECTS))
            reply = await self._in_time(asking, target, max(0.0, end - self._reactor.seconds()), seconds)
            if reply.status not in _REDIRECTS:
                return reply
            target = self._next_target(target, reply.headers.get("location", ""))
        raise UnreachableError(_("The address redirects more than %(max)s times.", max=MAX_REDIRECTS))

    def _next_target(self, target: Target, location: str) -> Target:
        if not location:
            raise UnreachableError(_("%(host)s redirects without naming a target.", host=target.host))
        try:
            following = self.target(urljoin(target.url, location))
        except (RefusedTargetError, ValueError) as refused:
            words = _("The address is not valid.")
            reason = refused.args[0] if isinstance(refused, RefusedTargetError) else words
            address = location[:300]
            words = _("%(host)s redirects to %(address)s. %(reason)s", host=target.host, address=address, reason=reason)
            raise RefusedTargetError(words) from None
        if target.scheme == "https" and following.scheme != "https":
            words = _("%(host)s redirects from https to http, which is not secure.", host=target.host)
            raise RefusedTargetError(words)
        return following

    async def _in_time(
        self, work: Coroutine[Any, Any, T], target: Target, seconds: float, limit: float | None = None
    ) -> T:
        """The result, unless ``seconds`` pass. An error names ``limit``, of which they are what is left."""
        asking = ensureDeferred(work)
        with deadline(self._reactor, seconds, asking.cancel) as timer:
            try:
                return await asking
            except RefusedTargetError:
                raise
            except Exception as problem:
                if timer.active() and isinstance(self._http.innermost(problem), CancelledError):
                    raise CancelledError from problem  # not the time: nobody wants the answer any more
                raise UnreachableError(self._http.describe_failure(problem, target, limit or seconds)) from problem

    async def _ask(self, asked: Asked) -> Response:
        addresses = await self._addresses(asked.target)
        return await self._http.run(self._reactor, asked, addresses, self._trust_root)

    @property
    def _http(self) -> Any:
        # By name: importing it takes a good part of the start of a command, and most commands ask nobody.
        return import_module("crowdd.core.outbound.outbound_http")

    async def _addresses(self, target: Target) -> Sequence[str]:
        """The addresses to connect to, each of them checked."""
        addresses = await self._lookups.run((target.host, target.port), lambda: self._resolve(target.host, target.port))
        if not addresses:
            raise network.DNSLookupError(target.host)
        if not target.trusted:
            for address in addresses:
                _require_public(target.host, address)
        return addresses


def _require_public(host: str, address: str) -> None:
    try:
        require_public(ipaddress.ip_address(address))
    except RefusedTargetError as refused:
        raise RefusedTargetError(_("%(host)s: %(reason)s", host=host, reason=refused.args[0])) from None


class SystemResolver:
    """Resolves names as the system does (hosts file, name servers), in the reactor's threads."""

    def __init__(self, reactor: IReactor) -> None:
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

    def resolutionBegan(self, resolutionInProgress: object) -> None:
        """Nothing to note."""

    def addressResolved(self, address: Any) -> None:
        self._found.append(address.host)

    def resolutionComplete(self) -> None:
        self.done.callback(list(dict.fromkeys(self._found)))
