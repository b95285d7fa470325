"""A request and its response, as handlers and what sends responses know them. How it arrives is the site's business."""

from __future__ import annotations

from http import HTTPStatus
from typing import AnyStr

from twisted.web.http import NO_BODY_CODES
from twisted.web.server import Request as TwistedRequest

from crowdd.http.edge.channel import Channel
from crowdd.http.edge.headers import head_text

_PHRASES = {status.value: status.phrase.encode() for status in HTTPStatus}


class Request(TwistedRequest):
    """What ``Incoming`` reads, and what responses are sent with."""

    channel: Channel
    postpath: list[bytes]
    request_id = ""
    route = "(none)"  # the path of the route, once it is known
    address = ""  # of the client, once the gateway has looked
    cookie_prefix = ""
    _texts: dict[str, str] | None = None

    @property
    def gone(self) -> bool:
        """Whether the client has disconnected: Twisted then takes the channel away."""
        return self.channel is None

    def getHeader(self, key: AnyStr) -> AnyStr | None:
        """The last value of a header. Bytes that are not UTF-8 are replaced."""
        return super().getHeader(key) if isinstance(key, bytes) else self.header_texts().get(key.lower())

    def header_texts(self) -> dict[str, str]:
        """The last value of each header by its name in lower case."""
        if self._texts is None:
            lines = self.requestHeaders._rawHeaders.items()
            self._texts = {str(name, "latin-1").lower(): str(line[-1], "utf-8", "replace") for name, line in lines}
        return self._texts

    def getRequestHostname(self) -> bytes:
        """A constant: no route depends on the host name, and Klein fails for invalid ones."""
        return b"localhost"

    def setResponseCode(self, code: int, message: bytes | None = None) -> None:
        """Set the status with its words: Twisted has none for 421, 422 and 429, and tus makes its own 460."""
        super().setResponseCode(code, message or _PHRASES.get(code))

    def parseCookies(self) -> None:
        """Nothing: ``Incoming`` parses cookies when one is asked for."""

    def deliver(self, body: bytes) -> None:
        """Write the whole response, or the rest of one that has begun, unless the client has disconnected."""
        if self.gone:
            return
        if self._is_complete():
            head = head_text(self.clientproto, b"%d" % self.code, self.code_message, self.responseHeaders)
            body = b"" if self.method == b"HEAD" or self.code in NO_BODY_CODES else body
            self.startedWriting, self.sentLength = 1, len(body)
            self.channel.send(head + body)
        else:
            self.write(body)
        self.finish()

    def _is_complete(self) -> bool:
        """Whether the headers are all that a response needs, so that Twisted has none to add."""
        if self.startedWriting:
            return False
        if self.code in NO_BODY_CODES:
            return True
        headers = self.responseHeaders._rawHeaders
        return b"Content-Length" in headers and b"Content-Type" in headers
