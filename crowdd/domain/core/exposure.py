"""What visitors may see, as a number: it changes with every change of rights, locks, publication, names and blocks.

The database counts it (``exposure``) within the transaction that makes the change, for all processes. It also knows
which visitors see the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import attrs

from crowdd.concurrency.batching import Batcher, BatcherFactory
from crowdd.requester import Requester
from crowdd.storage.core import site
from crowdd.storage.database import Database
from crowdd.storage.tasks import contributions
from crowdd.storage.tasks.rows import HasAnswered

T = TypeVar("T")


@attrs.frozen
class Viewpoint:
    """The requester for whom rows are read: ``who``, or one who stands for all that see the same.

    ``moment``: the moment (``Exposure.moment``) at which that was looked up; None if it was not.
    """

    who: Requester
    moment: str | None = None


class Exposure:
    """Tells the number as it is now. Requests that come together share a statement."""

    def __init__(self, db: Database, new_batcher: BatcherFactory) -> None:
        self._db = db
        self._asked: Batcher[None, int] = new_batcher(partial(_for_all, partial(site.exposure, db)))
        self._moments: Batcher[None, str] = new_batcher(partial(_for_all, partial(site.moment, db)))
        self._volunteers: Batcher[str, HasAnswered] = new_batcher(partial(contributions.have_answered, db))

    async def version(self) -> int:
        """The number that is committed; it was read after this was called."""
        return await self._asked.add(None)

    async def moment(self) -> str:
        """A text that changes with every commit (``storage.core.site``); it was read after this was called."""
        return await self._moments.add(None)

    async def alike(self, who: Requester) -> Viewpoint:
        """One requester for all without an account who have given no answer: rows made for them are good for ``who``.

        Somebody else is returned as they are.
        """
        if who.signed_in or who.external_uid is not None:
            return Viewpoint(who)
        volunteer_record = await self._volunteers.add(who.actor)
        return Viewpoint(
            who if volunteer_record.answered else attrs.evolve(who, volunteer="", network=""), volunteer_record.moment
        )


async def _for_all(read: Callable[[], Awaitable[T]], members: list[None]) -> list[T]:
    return [await read()] * len(members)
