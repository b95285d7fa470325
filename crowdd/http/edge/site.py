"""The web server: limits on bodies and connections, the requests in flight, and draining before shutdown."""

from __future__ import annotations

import os
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from io import BytesIO
from typing import Any

from twisted.internet.defer import Deferred, ensureDeferred, succeed
from twisted.internet.interfaces import IAddress, IDelayedCall, IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.http import datetimeToString, parse_qs
from twisted.web.resource import Resource
from twisted.web.server import Site as TwistedSite

from crowdd.http.edge.addresses import is_trusted
from crowdd.http.edge.bodies import BodyLimits, Limit, imports_into, is_part, too_large
from crowdd.http.edge.channel import LINGER_SECONDS, MAX_IMPORT_SECONDS, Channel
from crowdd.http.edge.fair_share import BURST, PartTurns
from crowdd.http.edge.headers import SECURE_PREFIX, EncodedHeaders, Hosts, encode, set_headers
from crowdd.http.edge.memory import BodyMemory, Trimmer
from crowdd.http.edge.server_request import Request
from crowdd.http.edge.streams import Streams
from crowdd.kernel.config import Settings
from crowdd.kernel.errors import CrowddError, UnavailableError, full_disk
from crowdd.kernel.reactor import epoch_seconds
from crowdd.kernel.requester import network

log = Logger()
IDLE_SECONDS = 75
_REQUEST_IDS = random.Random(os.urandom(16))  # noqa: S311 - they tell requests apart and are no secrets
LOOK_SECONDS = 5.0  # between two checks for connections that take too long or are idle


class SiteChannel(Channel):
    """A connection of a ``Site``."""

    site: Site


class SiteRequest(Request):
    """A request whose body is refused as soon as it is known to be too large (Twisted has no limit).

    A body up to the limit for anonymous clients is read at once. Before more is read, the sender is identified. A part
    of a file is read when its sender is identified and its turn has come.
    """

    channel: SiteChannel
    site: Site | None = None
    began = 0.0
    came = 0  # bytes of the body
    _limit = 0
    _asking = False  # the body waits until its sender is identified, and for its turn
    _expected = False  # the client sent Expect: 100-continue
    _received: tuple[bytes, bytes, bytes] | None = None  # a complete request whose sender is being identified
    _refused = False
    _in_memory = 0  # bytes of the site's ``body_memory``
    _memory: BodyMemory
    _turn: Deferred[None] | None = None
    _burst = 0  # bytes of a part since the last pause
    _pause: IDelayedCall | None = None

    def gotLength(self, length: int | None) -> None:
        self.method, self.uri = self.channel._command, self.channel._path
        self.path = self.uri.partition(b"?")[0]
        self.cookie_prefix = self.channel.site.cookie_prefix
        self._limit = self.channel.site.limits.limit(self.uri, known=False)
        if length is not None and length > self._limit:
            self._beyond(length)
        elif length != 0 and is_part(self.uri):
            self._ask()
        self._memory = self.channel.site.body_memory
        if not self._refused and is_part(self.uri):
            self._in_memory = self._memory.take(length)
        if self._in_memory:
            self.content = BytesIO()
        else:
            self._kept_by(lambda: super(SiteRequest, self).gotLength(0 if self._refused else length))

    def handleContentChunk(self, data: bytes) -> None:
        if self._refused:
            return
        self.came += len(data)
        if self.came > self._limit:
            self._beyond(self.came)
        stored = not self._refused and self._kept_by(lambda: super(SiteRequest, self).handleContentChunk(data))
        if stored and self._turn is not None:
            self._pace(len(data))

    def _kept_by(self, keep: Callable[[], object]) -> bool:
        """Whether there was room for the body, which waits in a temporary file if it is large."""
        try:
            keep()
        except OSError as error:
            full = full_disk(error)
            if full is None:
                raise
            log.error("disk full: folder={folder} error={error}", folder=tempfile.gettempdir(), error=error)
            self.turn_away(full)
            return False
        return True

    def _pace(self, length: int) -> None:
        """Let others go on between the pieces of a part."""
        self._burst += length
        if self._burst >= BURST and self._pause is None:
            self._burst = 0
            self.channel.hold()
            self._pause = self.channel.site.part_turns.pause(self._after_pause)

    def _after_pause(self) -> None:
        self._pause = None
        self.channel.go_on(expected=False)

    def _end_pause(self) -> None:
        if self._pause is not None:
            self._pause.cancel()
            self._pause = None

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        self._end_pause()
        if self._asking:
            self._received = (command, path, version)
        elif not self._refused:
            super().requestReceived(command, path, version)

    def begin(self, method: bytes, target: bytes, body: bytes) -> None:
        """Process a request that has come at once: what Twisted does in three steps."""
        self.method, self.uri, self.clientproto = method, target, b"HTTP/1.1"
        self.path, _, query = target.partition(b"?")
        self.args = parse_qs(query, True) if query else {}
        self.cookie_prefix, self.content, self.came = self.channel.site.cookie_prefix, BytesIO(body), len(body)
        self.process()

    def _beyond(self, size: int) -> None:
        """The body is larger than the limit for anonymous clients."""
        maximum = self.channel.site.limits.limit(self.uri, known=True)
        if size > maximum or self._limit == maximum:
            self.turn_away(too_large(maximum))
        elif not self._asking:
            self._ask()

    def _ask(self) -> None:
        """Read no more of the body until its sender is identified."""
        self._asking = True
        self.channel.hold()
        self._expected = self.requestHeaders.hasHeader(b"expect")
        self.requestHeaders.removeHeader(b"expect")
        ensureDeferred(self.channel.site.resource.body_limit(self)).addCallbacks(self._allowed, self._denied)

    def _allowed(self, limit: int) -> None:
        if self._disconnected:
            return
        if is_part(self.uri):
            ensureDeferred(self.channel.site.part_turns.take(lambda: self._begin_turn(limit)))
        else:
            self._read_on(limit)

    def _begin_turn(self, limit: int) -> Deferred[None]:
        """Read a part; what is returned is called back when the request has ended."""
        if self._disconnected:
            return succeed(None)
        self._turn = Deferred()
        turn = self._turn
        self.channel.restart()
        self._read_on(limit)
        return turn

    def _read_on(self, limit: int) -> None:
        self._asking, self._limit = False, limit
        if imports_into(self.uri) is not None:
            self.channel.body_seconds = MAX_IMPORT_SECONDS
        self.channel.go_on(expected=self._expected)
        if self.came > limit:
            self.turn_away(too_large(limit))
        elif self._received is not None:
            super().requestReceived(*self._received)

    def _denied(self, failure: Failure) -> None:
        error = failure.value
        if not isinstance(error, CrowddError):
            log.failure("could not identify the sender of a large body", failure)
        if not self._disconnected:
            self.channel.go_on(expected=False)
            self.turn_away(error if isinstance(error, Exception) else UnavailableError())

    def process(self) -> None:
        site = self.channel.site
        site.requests.add(self)
        self.began, self.request_id = site.seconds(), f"{_REQUEST_IDS.getrandbits(64):016x}"
        set_headers(self.responseHeaders, (*site.greeting(), (b"X-Request-Id", self.request_id.encode())))
        if site.draining:
            self.setHeader("Connection", "close")
            self.channel.close_after_answer()
        self._find(site)

    def _find(self, site: Site) -> None:
        """Render the one resource of the site, as Twisted does, without a search for child resources."""
        self.site, self.prepath, self.postpath = site, [], self.path[1:].split(b"/")
        if self.path == b"*":
            self._handleStar()
            return
        try:
            self.render(site.resource)
        except BaseException:
            self.processingFailed(Failure())

    def finish(self) -> None:
        super().finish()
        self._end_body()
        if self.site is not None:
            self.site.answered(self)
            self.site.request_done(self)

    def connectionLost(self, reason: Failure) -> None:
        super().connectionLost(reason)
        self._end_body()
        if self.site is not None:
            self.site.request_done(self)

    def _end_body(self) -> None:
        """The body is not needed any more: others get its memory and its turn."""
        self._end_pause()
        if self._in_memory:
            self._memory.give_back(self._in_memory)
            self._in_memory = 0
        if self._turn is not None:
            turn, self._turn = self._turn, None
            if not turn.called:  # by the end of its time
                turn.callback(None)

    def turn_away(self, error: Exception) -> None:
        """Refuse the request before all of it is read, and close the connection."""
        if self._refused:
            return
        self._refused, self._asking = True, False
        self.channel.complete()
        self.requestHeaders.removeHeader(b"expect")  # nobody is asked to go on
        self.channel.refuse(error)


class RootResource(Resource):
    """Answers all requests of the site. ``body_limit`` says how long the body of a request may be."""

    isLeaf = True
    body_limit: Limit


class Site(TwistedSite):
    """Serves a resource, and knows its connections and requests in flight.

    Twisted's access log is off, because it formats a line for every request even if no log is written.
    """

    resource: RootResource
    protocol: Any = SiteChannel  # HTTPFactory declares one that also speaks HTTP/2
    displayTracebacks = False

    def __init__(
        self,
        resource: RootResource,
        streams: Streams,
        settings: Settings,
        *,
        reactor: IReactorTime,
        answered: Callable[[SiteRequest], None] = lambda request: None,
    ) -> None:
        """``answered`` is called for every request with a complete response."""
        # ``Incoming`` parses bodies when they are needed. Twisted would answer a malformed one with an empty 400.
        super().__init__(
            resource,
            requestFactory=SiteRequest,
            timeout=IDLE_SECONDS,
            reactor=reactor,
            parsePOSTFormSubmission=False,
        )
        self.max_connections = settings.http.max_connections  # what the operating system allows
        self.draining = False
        self.answered = answered
        self.streams = streams
        self.requests: set[SiteRequest] = set()
        self.channels: set[Channel] = set()
        self.body_memory, self.part_turns = BodyMemory(), PartTurns(reactor)
        self.networks: Counter[str] = Counter()  # connections of each
        self._waiting: list[tuple[Callable[[], bool], Deferred[None]]] = []
        self._clock = reactor
        self.seconds: Callable[[], float] = reactor.seconds
        """Seconds that pass, for durations."""
        self._look: IDelayedCall | None = None
        self._trimmer = Trimmer(reactor)
        self._greeted, self._greeting = -1, encode({})
        self.use(settings)

    def log(self, request: object) -> None:
        """Do nothing: see the class."""

    def use(self, settings: Settings) -> None:
        """Apply the limits of these settings."""
        self._settings = settings
        self.limits, self.hosts = BodyLimits.of(settings), Hosts.of(settings)
        self.connections = min(settings.http.max_connections, self.max_connections)
        self.log_requests = settings.log.requests
        self._greeted = -1
        https = settings.base_url.startswith("https:")
        self.cookie_prefix = SECURE_PREFIX if https else ""
        lasts = settings.http.hsts_seconds if https else 0
        self._always = {"Server": "crowdd", **({"Strict-Transport-Security": f"max-age={lasts}"} if lasts else {})}

    def greeting(self) -> EncodedHeaders:
        """The first headers of every response."""
        second = int(epoch_seconds(self._clock))
        if second != self._greeted:
            self._greeted = second
            self._greeting = encode({**self._always, "Date": datetimeToString(second).decode()})
        return self._greeting

    def startFactory(self) -> None:
        super().startFactory()
        self._look = self._clock.callLater(LOOK_SECONDS, self._cut_slow)

    def stopFactory(self) -> None:
        super().stopFactory()
        self._trimmer.stop()
        if self._look is not None and self._look.active():
            self._look.cancel()

    def acceptableProtocols(self) -> list[bytes]:
        """Only HTTP/1.1, with TLS as well: ``Channel`` speaks nothing else."""
        return [b"http/1.1"]

    def buildProtocol(self, addr: IAddress | None) -> Any:
        """None, which closes the connection, if there are too many connections in all or of its network."""
        has_room = len(self.channels) < self.connections and self._has_room(self._counted_as(addr))
        return super().buildProtocol(addr) if has_room else None

    def _has_room(self, place: str) -> bool:
        maximum = self._settings.http.max_connections_per_network
        return not place or not maximum or self.networks[place] < maximum

    def _counted_as(self, peer: IAddress | None) -> str:
        """The network of a client, or "" for a trusted proxy, which connects for many clients."""
        address = getattr(peer, "host", None) or "127.0.0.1"
        return "" if is_trusted(address, self._settings.http.trusted_proxies) else network(address)

    def takes_at_once(self, target: bytes, length: int) -> bool:
        """Whether a body of so many bytes may be read before it is known who sends it."""
        return length <= self.limits.anonymous and not is_part(target)

    def arrived(self, channel: Channel) -> None:
        """Count a new connection."""
        self.channels.add(channel)
        channel.network = self._counted_as(channel.getPeer())
        self.networks[channel.network] += 1

    def left(self, channel: Channel) -> None:
        """Count a closed connection."""
        self.channels.discard(channel)
        self.networks[channel.network] -= 1
        if not self.networks[channel.network]:
            del self.networks[channel.network]
        self.look_again()

    def _cut_slow(self) -> None:
        """Abort connections whose request takes too long to arrive, even if data keeps arriving. Close idle ones."""
        self._look = self._clock.callLater(LOOK_SECONDS, self._cut_slow)
        now = self.seconds()
        for channel in [one for one in self.channels if one.is_idle(now)]:
            channel.timeoutConnection()
        for channel in [one for one in self.channels if one.is_late(now)]:
            channel.transport.abortConnection()

    def request_done(self, request: SiteRequest) -> None:
        """Count a finished request."""
        self.requests.discard(request)
        self._trimmer.after(max(request.came, request.sentLength))
        self.look_again()

    def look_again(self) -> None:
        """Check the conditions that ``drain`` waits for."""
        if not self._waiting:
            return
        for waiting in [each for each in self._waiting if each[0]()]:
            self._waiting.remove(waiting)
            waiting[1].callback(None)

    async def _until(self, condition: Callable[[], bool], seconds: float) -> None:
        """Return when the condition holds, or after this time."""
        if condition():
            return
        done: Deferred[None] = Deferred()
        waiting = (condition, done)
        self._waiting.append(waiting)
        await done.addTimeout(seconds, self._clock).addErrback(lambda _: None)
        if waiting in self._waiting:
            self._waiting.remove(waiting)

    def _at_rest(self) -> bool:
        return not self.requests and not any(channel.is_receiving for channel in self.channels)

    async def drain(self, seconds: float) -> None:
        """End streams, let requests in flight finish within this time, and close every connection.

        Close the port first. A request that is still arriving after this time gets a 503. A kept-alive connection
        accepts no further request.
        """
        self.draining = True
        self.streams.close()
        for channel in list(self.channels):
            channel.close_after_answer()
        if not self._at_rest():
            await self._until(self._at_rest, seconds)
            # The last response is still being written when its request is counted as finished.
            await deferLater(self._clock, 0, lambda: None)
        late = [channel for channel in self.channels if channel.is_receiving]
        for channel in list(self.channels):
            if channel in late:
                channel.refuse(UnavailableError("The server is stopping."))
            else:
                channel.transport.loseConnection()
        await self._until(lambda: not any(channel in self.channels for channel in late), LINGER_SECONDS)
