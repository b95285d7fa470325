"""Files that are generated while they are sent, as fast as the client reads them, and parts of unchanging files.

A client asks for a part as RFC 9110, 13 and 14 say.
"""

from __future__ import annotations

import re
import tempfile
import zlib
from collections.abc import AsyncGenerator, Callable, Mapping
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from typing import BinaryIO

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from crowdd.http.edge.headers import GZIP, ZSTD, matches_etag
from crowdd.http.edge.server_request import Request
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Response
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.lazy import lazy

log = Logger()


zstandard = lazy("zstandard")
PIECE = 65_536  # bytes of a file or a long response that are written at once
_PACKED_LEVEL = 1  # a file is as long as what the network takes; more would cost more than it saves
LONG = 1_000_000  # bytes; longer responses are not kept in memory while they are sent


class Downloads:
    """Sends files. A client that reads nothing for ``stalled_timeout`` is disconnected."""

    def __init__(self, clock: IReactorTime, stalled_timeout: float) -> None:
        self._clock, self._seconds = clock, stalled_timeout

    async def send(self, request: Request, first: bytes, rest: AsyncGenerator[bytes, None]) -> None:
        """Write the parts, after the headers are set. A part is requested when the previous one is being sent.

        If the client disconnects, the parts are closed. An error aborts the connection, so that an incomplete file does
        not look complete.
        """
        if request.gone:  # while the first part was made
            await rest.aclose()
            return
        flow = Flow(request, self._clock, self._seconds)
        try:
            request.write(first)
            while await flow.ready():
                part = await anext(rest, None)
                if part is None:
                    break
                if not flow.gone:
                    request.write(part)
        except Exception:
            log.failure("could not finish a download")
            flow.abort()
        finally:
            flow.end()
            await rest.aclose()


def spill_body(body: bytes) -> BinaryIO:
    """A long response as a temporary file, so that it does not stay in memory while a slow client reads it."""
    file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
    try:
        file.write(body)
        file.seek(0)
    except OSError:
        file = BytesIO(body)  # the disk is full: who reads is served nevertheless
    return file


async def pieces_of(source: BinaryIO, begin: int, end: int) -> AsyncGenerator[bytes, None]:
    """The bytes of a file from ``begin`` to ``end``. The file is then closed."""
    with source as file:
        file.seek(begin)
        while begin < end and (piece := file.read(min(PIECE, end - begin))):
            begin += len(piece)
            yield piece


@cache
def offered_codings() -> tuple[str, ...]:
    """How files can be compressed on their way, the best one first: with Zstandard where its library is installed."""
    return (ZSTD, GZIP) if find_spec("zstandard") else (GZIP,)


async def packed_parts(
    first: bytes, rest: AsyncGenerator[bytes, None], worker_thread: WorkerThread, coding: str
) -> AsyncGenerator[bytes, None]:
    """The parts of a file compressed, in a thread. What there is of each part leaves at once."""
    if coding == ZSTD:
        packing, mode = zstandard.ZstdCompressor(_PACKED_LEVEL).compressobj(), zstandard.COMPRESSOBJ_FLUSH_BLOCK
    else:
        packing, mode = zlib.compressobj(_PACKED_LEVEL, wbits=16 + zlib.MAX_WBITS), zlib.Z_SYNC_FLUSH

    def packed(part: bytes) -> bytes:
        return packing.compress(part) + packing.flush(mode)

    try:
        yield await worker_thread.do_soon(packed, first)
        async for part in rest:
            yield await worker_thread.do_soon(packed, part)
        yield packing.flush()
    finally:
        await rest.aclose()


class Flow:
    """A producer for a request. It knows when the connection accepts more data, and when it is closed."""

    def __init__(self, request: Request, clock: IReactorTime, seconds: float) -> None:
        self._request, self._clock, self._seconds = request, clock, seconds
        self._room: Deferred[None] | None = None
        self._cut: IDelayedCall | None = None
        self.gone = False
        request.notifyFinish().addErrback(self._left)
        request.registerProducer(self, True)

    async def ready(self) -> bool:
        """Wait until the connection accepts more data. False if it is closed."""
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
        """Do nothing: ``notifyFinish`` reports the lost connection."""

    def abort(self) -> None:
        """Abort the connection."""
        if not self.gone:
            self._request.channel.transport.abortConnection()

    def end(self) -> None:
        """Stop producing."""
        self._forget()
        if not self.gone:
            self._request.unregisterProducer()

    def _forget(self) -> None:
        if self._cut is not None and self._cut.active():
            self._cut.cancel()

    def _left(self, failure: Failure) -> None:
        self.gone = True
        self.resumeProducing()


_ONE = re.compile(r"bytes=(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))", re.IGNORECASE)


def parse_range(header: str, size: int) -> tuple[int, int] | None:
    """First byte and end of the one range that a Range header names; None: the whole file.

    A header with several ranges, or one that is no range, is ignored, as the standard allows. Raises ValueError for a
    range of which the file has nothing.
    """
    match = _ONE.fullmatch(header.strip())
    if match is None:
        return None
    first, last, tail = match.groups()
    begin = max(size - int(tail), 0) if tail is not None else int(first)
    end = min(int(last) + 1, size) if last else size
    if tail is None and last and int(last) < int(first):
        return None
    if begin >= end:
        raise ValueError(header)
    return begin, end


Sent = Callable[[int, int, int, dict[str, str]], Response]
"""The response with the bytes from a begin to an end, with this status and these headers."""


def answer_file(
    incoming: Incoming, etag: str, size: int, content_type: str, headers: Mapping[str, str], sent: Sent
) -> Response:
    """The file, the part of it that the client asks for, or that it has it already. ``etag`` has its quotes."""
    response_headers = {**headers, "ETag": etag, "Accept-Ranges": "bytes"}
    if matches_etag(incoming.header("if-none-match"), etag):
        return BytesResponse(b"", content_type, 304, response_headers)
    part = None
    if incoming.header("if-range") in ("", etag):
        try:
            part = parse_range(incoming.header("range"), size)
        except ValueError:
            return BytesResponse(b"", content_type, 416, {**response_headers, "Content-Range": f"bytes */{size}"})
    if part is None:
        return sent(0, size, 200, response_headers)
    return sent(*part, 206, {**response_headers, "Content-Range": f"bytes {part[0]}-{part[1] - 1}/{size}"})
