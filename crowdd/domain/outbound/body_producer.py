"""Sends the body of a request piece by piece, as fast as the connection takes it."""

from __future__ import annotations

from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.interfaces import IConsumer
from twisted.web.iweb import IBodyProducer
from zope.interface import implementer

from crowdd.domain.outbound.sent_body import SentBody


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
