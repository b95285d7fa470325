"""The web server's edge: a limit on bodies, a count of requests in flight, and draining before the end."""

from __future__ import annotations

import secrets as random
from collections.abc import Callable
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater
from twisted.python.failure import Failure
from twisted.web.http import datetimeToString
from twisted.web.server import Request as TwistedRequest
from twisted.web.server import Site as TwistedSite
from twisted.web.server import version

from crowdd.config import Settings
from crowdd.errors import TooLargeError
from crowdd.http.channel import Channel
from crowdd.http.heads import Ready, put, ready
from crowdd.http.streams import Streams

IDLE_SECONDS = 75
LOOK_SECONDS = 5.0  # between two looks at connections that take too long


class Request(TwistedRequest):
    """A request whose body is refused as soon as it is known to be too large (Twisted itself has no limit)."""

    channel: Any
    site: Any = None
    request_id = ""
    route = "(none)"  # the address without what is particular to this request, once it is known
    began = 0.0
    _left: int | None = None
    _refused = False
    _texts: dict[str, str] | None = None

    def getHeader(self, key: Any) -> Any:
        """The last value of a header; bytes that are no UTF-8 are replaced, not an error."""
        if isinstance(key, bytes):
            return super().getHeader(key)
        if self._texts is None:
            lines = self.requestHeaders.getAllRawHeaders()
            self._texts = {name.decode("latin-1").lower(): line[-1].decode("utf-8", "replace") for name, line in lines}
        return self._texts.get(key.lower())

    def getRequestHostname(self) -> bytes:
        """Always the same: no route depends on the host name, and Klein chokes on odd ones."""
        return b"localhost"

    def gotLength(self, length: int | None) -> None:
        limit = self.channel.site.most_bytes(self.channel._path)
        if length is not None and length > limit:
            self._refuse()
            length = 0
        self._left = limit
        super().gotLength(length)

    def handleContentChunk(self, data: bytes) -> None:
        if self._refused:
            return
        self._left = (self._left or 0) - len(data)
        if self._left < 0:
            self._refuse()
        else:
            super().handleContentChunk(data)

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        if not self._refused:
            super().requestReceived(command, path, version)

    def process(self) -> None:
        site = self.channel.site
        site.requests.add(self)
        self.began, self.request_id = site.seconds(), random.token_hex(8)
        put(self.responseHeaders, (*site.greeting(), (b"X-Request-Id", self.request_id.encode())))
        if site.draining:
            self.setHeader("Connection", "close")
            self.channel.close_after_answer()
        self._find(site)

    def _find(self, site: Any) -> None:
        """As Twisted does it, where one resource answers everything: without looking for others below it."""
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
        self.site.answered(self)
        self.site.request_done(self)

    def connectionLost(self, reason: Any) -> None:
        super().connectionLost(reason)
        if self.site is not None:
            self.site.request_done(self)

    def deliver(self, body: bytes) -> None:
        """Writes the whole answer, unless the client has gone."""
        if self.channel is not None:
            self.write(body)
            self.finish()

    def _refuse(self) -> None:
        if self._refused:
            return
        self._refused = True
        self.channel.complete()
        self.requestHeaders.removeHeader(b"expect")  # nobody is asked to go on
        most = self.channel.site.most_bytes(self.channel._path)
        self.channel.refuse(TooLargeError(f"The body is larger than {most:,} bytes."))


class Site(TwistedSite):
    """Serves a resource; knows what is in flight.

    Twisted's own access log is off: it formats a line for every request, also where nobody reads it.
    """

    protocol: Any = Channel
    displayTracebacks = False

    def __init__(
        self,
        resource: Any,
        streams: Streams,
        *,
        most_body_bytes: int,
        reactor: Any,
        connections: int = 12_000,
        answered: Callable[[Request], None] = lambda request: None,
    ) -> None:
        """``answered`` is told of every request that was answered to its end."""
        # Bodies are parsed where they are wanted (``Incoming``); here a broken one would get an empty 400.
        super().__init__(
            resource,
            requestFactory=Request,
            timeout=IDLE_SECONDS,
            reactor=reactor,
            parsePOSTFormSubmission=False,
        )
        self.most_body_bytes, self.connections = most_body_bytes, connections
        self.most_import_bytes = most_body_bytes
        self.most_there = connections  # what the operating system allows
        self.draining, self.log_requests = False, False
        self.answered = answered
        self.streams = streams
        self.requests: set[Request] = set()
        self.channels: set[Channel] = set()
        self._waiting: list[Deferred[None]] = []
        self._clock = reactor
        self._look: Any = None
        self._greeted, self._greeting = -1, ready({})

    def log(self, request: Any) -> None:
        """Nothing: see the class."""

    def use(self, settings: Settings) -> None:
        """Limits are these from now on."""
        self.most_body_bytes = settings.http.most_body_bytes
        self.most_import_bytes = settings.http.most_import_bytes
        self.connections = min(settings.http.connections, self.most_there)
        self.log_requests = settings.log.requests

    def greeting(self) -> Ready:
        """The headers with which every answer begins."""
        second = int(self.seconds())
        if second != self._greeted:
            self._greeted = second
            self._greeting = ready({"Server": version.decode(), "Date": datetimeToString(second).decode()})
        return self._greeting

    def most_bytes(self, address: bytes) -> int:
        """How long the body of a request to this address may be: files of tasks are longer than anything else."""
        path = address.partition(b"?")[0].rstrip(b"/")
        brings = path.startswith(b"/project/") and path.endswith(b"/tasks/import")
        return max(self.most_body_bytes, self.most_import_bytes) if brings else self.most_body_bytes

    def seconds(self) -> float:
        """Now."""
        return float(self._clock.seconds())

    def startFactory(self) -> None:
        super().startFactory()
        self._look = self._clock.callLater(LOOK_SECONDS, self._cut_slow)

    def stopFactory(self) -> None:
        super().stopFactory()
        if self._look is not None and self._look.active():
            self._look.cancel()

    def acceptableProtocols(self) -> list[bytes]:
        """Over TLS, too, nothing but HTTP/1.1: that is what our channel speaks."""
        return [b"http/1.1"]

    def buildProtocol(self, addr: Any) -> Any:
        """None, which closes the connection, when there are as many as there may be."""
        return super().buildProtocol(addr) if len(self.channels) < self.connections else None

    def _cut_slow(self) -> None:
        """Ends the connections whose request has been on its way for too long, however steadily it trickles in."""
        self._look = self._clock.callLater(LOOK_SECONDS, self._cut_slow)
        now = self.seconds()
        for channel in [one for one in self.channels if one.is_late(now)]:
            channel.transport.abortConnection()

    def request_done(self, request: Request) -> None:
        """Counts a request out."""
        self.requests.discard(request)
        if not self.requests:
            waiting, self._waiting = self._waiting, []
            for deferred in waiting:
                deferred.callback(None)

    async def drain(self, seconds: float) -> None:
        """Ends streams, lets running requests finish within the time, closes every connection. Close the port first.

        A connection that is kept alive takes no further request.
        """
        self.draining = True
        self.streams.close()
        for channel in list(self.channels):
            channel.close_after_answer()
        if self.requests:
            done: Deferred[None] = Deferred()
            self._waiting.append(done)
            done.addTimeout(seconds, self._clock).addErrback(lambda _: None)
            await done
            # The last answer is still on its way out when its request is counted out.
            await deferLater(self._clock, 0, lambda: None)
        for channel in list(self.channels):
            channel.transport.loseConnection()
