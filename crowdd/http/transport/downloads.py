"""Files that are made while they are sent: as fast as the client takes them, and no longer than he is there."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, BinaryIO

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from crowdd.http.transport.site import Request

log = Logger()
PIECE = 65_536  # bytes of a file or a long answer that are written at once
LONG = 1_000_000  # bytes of an answer that is not kept in memory while it is sent


class Downloads:
    """Sends files. A client that takes nothing for ``stalled_seconds`` is cut off; ``clock`` has ``callLater``."""

    def __init__(self, clock: IReactorTime, stalled_seconds: float) -> None:
        self._clock, self._seconds = clock, stalled_seconds

    async def send(self, request: Request, first: bytes, rest: AsyncGenerator[bytes, None]) -> None:
        """Writes the parts; the head is set. The next part is asked for when the one before is on its way.

        Ends when the client has gone; the parts are closed then. What fails in the middle ends the connection: a file
        that stops must not look like a whole one.
        """
        if request.gone:  # while the first part was made
            await rest.aclose()
            return
        oauth_state = Flow(request, self._clock, self._seconds)
        try:
            request.write(first)
            while await oauth_state.ready():
                part = await anext(rest, None)
                if part is None:
                    break
                if not oauth_state.gone:
                    request.write(part)
        except Exception:
            log.failure("could not finish a download")
            oauth_state.abort()
        finally:
            oauth_state.end()
            await rest.aclose()


def spilled(body: bytes) -> BinaryIO:
    """A long answer as a temporary file: until a slow client has taken it, it is on the disk and not in memory."""
    file = tempfile.TemporaryFile()  # noqa: SIM115
    file.write(body)
    file.seek(0)
    return file


async def pieces_of(source: BinaryIO, begin: int, end: int) -> AsyncGenerator[bytes, None]:
    """The bytes of a file from ``begin`` to ``end``; the file is closed after them."""
    with source as file:
        file.seek(begin)
        while begin < end and (piece := file.read(min(PIECE, end - begin))):
            begin += len(piece)
            yield piece


class Flow:
    """A producer for a request: tells when its connection takes more, and when it has gone."""

    def __init__(self, request: Request, clock: IReactorTime, seconds: float) -> None:
        self._request, self._clock, self._seconds = request, clock, seconds
        self._room: Deferred[None] | None = None
        self._cut: IDelayedCall | None = None
        self.gone = False
        request.notifyFinish().addErrback(self._left)
        request.registerProducer(self, True)

    async def ready(self) -> bool:
        """When there is room for more; False when nobody wants it."""
        if self._room is not None and not self.gone:
            await self._room
        return not self.gone

    def pauseProducing(self) -> None:
        if self._room is None:
            self._room = Deferred()
            self._cut = self._clock.callLater(self._seconds, self.abort)

    def resumeProducing(self) -> None:
        room, self._room = self._room, None
        self._forget()
        if room is not None:
            room.callback(None)

    def stopProducing(self) -> None:
        """The connection is lost; ``notifyFinish`` tells."""

    def abort(self) -> None:
        """Cuts the connection."""
        if not self.gone:
            self._request.channel.transport.abortConnection()

    def end(self) -> None:
        """Gives the connection back."""
        self._forget()
        if not self.gone:
            self._request.unregisterProducer()

    def _forget(self) -> None:
        if self._cut is not None and self._cut.active():
            self._cut.cancel()

    def _left(self, failure: Failure) -> None:
        self.gone = True
        self.resumeProducing()
