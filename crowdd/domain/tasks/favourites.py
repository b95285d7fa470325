"""Favourites over REST (interface: favorites)."""

from __future__ import annotations

import attrs

from crowdd.domain.core import rights
from crowdd.domain.core.records import Records, Views
from crowdd.errors import NOT_FOUND, AnonymousError, InvalidValueError, NotFoundError
from crowdd.kinds.task import TASK
from crowdd.requester import Requester
from crowdd.storage.core import listing
from crowdd.storage.core.listing import Query
from crowdd.storage.database import Database, Row, Transactions
from crowdd.storage.tasks import favourites
from crowdd.values import Values


class Favourites:
    """The marked tasks of a person."""

    def __init__(self, db: Transactions, records_: Records) -> None:
        self._db, self._records = db, records_

    async def list(self, query: Query, who: Requester) -> Views:
        """The tasks of a list that the requester marked and may (still) see, of all projects."""
        rows = await listing.select(self._db, attrs.evolve(query, own=False, favourite_of=_me(who)), who)
        return [self._records.view(TASK, row) for row in rows]

    async def add(self, who: Requester, body: object) -> Values:
        """Marks the task that the body names, and gives it."""
        user_id = _me(who)
        if not isinstance(body, dict) or set(body) != {"task_id"}:
            raise InvalidValueError("The body must have the key task_id and no other.")
        row = await self._task(who, TASK.field("id").parse(body["task_id"]))
        await favourites.add(self._db, user_id, row["id"])
        return self._records.view(TASK, row)

    async def remove(self, who: Requester, task_id: int) -> Values:
        """Takes the mark off a task, and gives it. NotFoundError when it has none."""
        user_id = _me(who)

        async def work(tx: Database) -> bool:
            return await favourites.remove(tx, user_id, task_id)

        row = await self._task(who, task_id)
        if not await self._db.transaction(work):
            raise NotFoundError(NOT_FOUND)
        return self._records.view(TASK, row)

    async def _task(self, who: Requester, task_id: int) -> Row:
        row = await self._records.find(self._db, TASK, who, task_id)
        rights.require(who, row["roles"], TASK.rights.get)
        return row


def _me(who: Requester) -> int:
    if who.acting_user is None:
        raise AnonymousError("Sign in to use favourites.")
    return who.acting_user
