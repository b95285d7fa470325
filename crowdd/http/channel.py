"""HTTP/1.1 as Twisted speaks it, but a client hears why he is refused before the connection ends."""

from __future__ import annotations

from typing import Any

from twisted.web.http import HTTPChannel

from crowdd.errors import CrowddError, InvalidRequestError, TooLargeError
from crowdd.http.negotiation import bare_refusal

LINGER_SECONDS = 2


class Channel(HTTPChannel):
    """One connection; ``site`` knows it while it is open."""

    site: Any
    transport: Any
    _refused = False
    _hanging_up: Any = None

    def connectionMade(self) -> None:
        self.site.channels.add(self)
        super().connectionMade()

    def connectionLost(self, reason: Any = None) -> None:
        self.site.channels.discard(self)
        if self._hanging_up is not None and self._hanging_up.active():
            self._hanging_up.cancel()
        super().connectionLost(reason)

    def dataReceived(self, data: bytes) -> None:
        if not self._refused:
            super().dataReceived(data)

    def lineLengthExceeded(self, line: bytes) -> None:
        """Twisted would end the connection without a word."""
        self.refuse(TooLargeError(f"The address or a header is longer than {self.MAX_LENGTH:,} bytes."))

    def _respondToBadRequestAndDisconnect(self) -> None:
        """Twisted's own answer has no body. Should it be renamed there, that one comes back."""
        if self._receivedHeaderSize > self.totalHeadersSize:
            self.refuse(TooLargeError(f"Address and headers are longer than {self.totalHeadersSize:,} bytes."))
        else:
            self.refuse(InvalidRequestError("These bytes are no HTTP/1.1."))

    def refuse(self, error: CrowddError) -> None:
        """Answers an error and ends the connection.

        What the client still sends is read and dropped for some seconds: whoever closes with bytes unread takes back
        the answer, too.
        """
        if self._refused:
            return
        self._refused = True
        method, address = getattr(self, "_command", b"GET"), getattr(self, "_path", b"/api")
        self.clearLineBuffer()
        self.setTimeout(None)
        self.transport.write(bare_refusal(error, method, address))
        self.transport.unregisterProducer()
        self.transport.loseWriteConnection()
        self._hanging_up = self.callLater(LINGER_SECONDS, self.transport.abortConnection)
