"""What visitors may see, as a number: it changes with every change of rights, locks, publication, names and blocks.

The database counts it (migration 64) within the transaction that makes the change, for all processes.
"""

from __future__ import annotations

from crowdd.concurrency.batching import Batcher, BatcherFactory
from crowdd.storage.core import site
from crowdd.storage.database import Database


class Exposure:
    """Tells the number as it is now. Requests that come together share a statement."""

    def __init__(self, db: Database, new_batcher: BatcherFactory) -> None:
        self._db = db
        self._asked: Batcher[None, int] = new_batcher(self._together)

    async def version(self) -> int:
        """The number that is committed; it was read after this was called."""
        return await self._asked.add(None)

    async def _together(self, members: list[None]) -> list[int]:
        return [await site.exposure(self._db)] * len(members)
