"""Changes of a project as they happen, in batches of whole lines (record 197)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable

import orjson

from crowdd.domain.transfer.exported.export_file import ExportFile
from crowdd.domain.transfer.exports import Exports
from crowdd.requester import Requester

FORMAT = "ndjson"
Ask = Callable[[], Awaitable[tuple[Requester, ExportFile]]]


class FollowedChanges:
    """What follows a cursor, batch by batch, for one reader. ``network`` is where the reader is.

    ``ask`` says who reads, and gives the file behind ``since`` with the rights of now; it raises when there are none
    any more.
    """

    def __init__(self, exports: Exports, since: str, network: str) -> None:
        self._exports, self._network = exports, network
        self.since = since
        self._begun = False
        self._next: tuple[Requester, ExportFile] | None = None

    async def ready(self, ask: Ask) -> bool:
        """Whether there is a batch. The first one is there in any case: it says that the stream is there.

        Raises what ``ask`` raises, and OutdatedError.
        """
        who, file = await ask()
        if self._begun and not await self._exports.has_changes(file):
            return False
        self._next = who, file
        return True

    async def batch(self) -> AsyncGenerator[bytes, None]:
        """The lines of the batch that is ready, in parts that end with a line. ``since`` is then behind it.

        Raises TooManyRequestsError where the first one would be a download too many.
        """
        assert self._next is not None
        who, file = self._next
        exports = self._exports
        parts = exports.changes(file) if self._begun else exports.download(who, file, self._network)
        rest = line = b""
        try:
            async for part in parts:
                whole, end, rest = (rest + part).rpartition(b"\n")
                if end:
                    line = whole.rpartition(b"\n")[2]
                    yield whole + end
        finally:
            await parts.aclose()
        self.since, self._begun = orjson.loads(line)["cursor"], True
