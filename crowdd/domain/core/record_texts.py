"""Rows read as JSON texts, which PostgreSQL makes; what it cannot show comes as a view."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial

import orjson

from crowdd.concurrency.batching import Batcher, BatcherFactory
from crowdd.domain.core.exposure import Exposure, Viewpoint
from crowdd.domain.core.records import Records
from crowdd.domain.core.secrets import Secrets
from crowdd.kinds import KINDS
from crowdd.kinds.kind import Kind
from crowdd.kinds.project import PROJECT
from crowdd.requester import Requester
from crowdd.storage.core import listing, projections
from crowdd.storage.core.listing import Query
from crowdd.storage.database import Database


class RecordTexts:
    """Reads and lists what ``Records`` reads and lists, with the same rights and values."""

    def __init__(
        self, db: Database, new_batcher: BatcherFactory, records: Records, secrets: Secrets, exposure: Exposure
    ) -> None:
        self._db, self._records, self._mask, self._exposure = db, records, secrets.key("mask"), exposure
        self._rows: Mapping[str, Batcher[projections.Ask, str | None]] = {
            name: new_batcher(partial(self._together, kind)) for name, kind in KINDS.items()
        }

    async def _together(self, kind: Kind, asks: list[projections.Ask]) -> list[str | None]:
        return await projections.texts_of(self._db, kind, asks, self._records.base_url, self._mask)

    async def viewpoint(self, kind: Kind, who: Requester, *, again: bool) -> Viewpoint:
        """Who stands for all requesters that see rows of the kind as ``who`` does, as far as that is known.

        ``again``: they have asked before, and it is worth a look whether anything was committed since.
        """
        requester_viewpoint = await self._exposure.alike(who) if kind is PROJECT else Viewpoint(who)
        if again and requester_viewpoint.moment is None:
            return Viewpoint(requester_viewpoint.who, await self._exposure.moment())
        return requester_viewpoint

    def list_key(self, query: Query, who: Requester) -> Hashable | None:
        """Equal for those who get the same text of a list that is read at the same time; None: it is not shared."""
        return listing.key_of(query, who)

    def row_key(self, kind: Kind, who: Requester, row_id: int) -> Hashable | None:
        """The same for the text of a row."""
        return None if who.presenter is not None else (row_id, *listing.requester_key(kind, who))

    async def get(self, kind: Kind, who: Requester, row_id: int) -> str:
        """One row. Raises NotFoundError, AnonymousError, ForbiddenError."""
        text = None
        if who.presenter is None:
            text = await self._rows[kind.name].add(projections.ask(who, row_id))
        return text if text is not None else _text(await self._records.get(kind, who, row_id))

    async def list(self, query: Query, who: Requester) -> str:
        """The rows of a list that the requester may see, as an array."""

        async def select(db: Database) -> str | None:
            return await listing.select_text(db, query, who, self._records.base_url, self._mask)

        text = await self._records.in_turn(query, who, select)
        return text if text is not None else _text(await self._records.list(query, who))


def _text(value: object) -> str:
    return orjson.dumps(value).decode()
