"""What visitors may see, as a number: it changes with every change of rights, locks, publication, names and blocks.

The database counts it (migration 64) within the transaction that makes the change, for all processes. It also knows
which visitors see the same.
"""

from __future__ import annotations

from functools import partial

import attrs

from crowdd.concurrency.batching import Batcher, BatcherFactory
from crowdd.requester import Requester
from crowdd.storage.core import site
from crowdd.storage.database import Database
from crowdd.storage.tasks import contributions


class Exposure:
    """Tells the number as it is now. Requests that come together share a statement."""

    def __init__(self, db: Database, new_batcher: BatcherFactory) -> None:
        self._db = db
        self._asked: Batcher[None, int] = new_batcher(self._together)
        self._volunteers: Batcher[str, bool] = new_batcher(partial(contributions.have_answered, db))

    async def version(self) -> int:
        """The number that is committed; it was read after this was called."""
        return await self._asked.add(None)

    async def alike(self, who: Requester) -> Requester:
        """One requester for all without an account who have given no answer: rows made for them are good for ``who``.

        Somebody else is returned as they are.
        """
        if who.signed_in or who.external_uid is not None or await self._volunteers.add(who.actor):
            return who
        return attrs.evolve(who, volunteer="", network="")

    async def _together(self, members: list[None]) -> list[int]:
        return [await site.exposure(self._db)] * len(members)
