"""From the file of an import to its rows: at once, or with what a IIIF collection names elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from crowdd.core.outbound.client import Outgoing
from crowdd.features.imports.files import Dialect
from crowdd.features.imports.prepared.iiif_collections import CollectionReader
from crowdd.features.imports.prepared.process import prepare
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.sched.queue import QueuedTask


class Preparing:
    """Finds the rows of files, which are made when they are missing."""

    def __init__(self, worker_thread: WorkerThread, outgoing: Outgoing, max_bytes: int) -> None:
        self._worker_thread, self._collections = worker_thread, CollectionReader(outgoing, worker_thread, max_bytes)

    async def rows(self, path: Path, dialect: Mapping[str, object] | None, item: QueuedTask | None) -> Path | None:
        """The file with the rows; None where that takes work in the background, and there is no ``item`` of it.

        Raises InvalidValueError with why the file cannot be used.
        """
        if dialect is None:
            return path
        chosen = Dialect.from_json(dialect)
        if chosen.format == "iiif":
            return await self._collections.read(path, chosen, None if item is None else item.progress)
        return await self._worker_thread.do(prepare, path, chosen)
