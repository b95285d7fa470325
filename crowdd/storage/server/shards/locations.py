"""Where projects live."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.storage.database import Database, fetch_each, fetch_rows, one_or_none
from crowdd.storage.server.shards.rows import AccountState, Place


async def by_id(home: Database, project_ids: Sequence[int]) -> list[Place]:
    """Where each project of an id lives, in their order; home for one that does not exist."""
    return await fetch_rows(
        home,
        Place,
        "SELECT i.id AS project_id, coalesce(p.shard, 0) AS shard"
        " FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY i(id, nth) LEFT JOIN project_place p ON p.project_id = i.id ORDER BY i.nth",
        {"ids": [*project_ids]},
    )


async def id_of(home: Database, short_name: str) -> int | None:
    """The project of a short name; home has a row of each."""
    row = await one_or_none(home, "SELECT id FROM project WHERE short_name = %(name)s", {"name": short_name})
    return None if row is None else int(row["id"])


async def project_of_task(db: Database, item_id: int) -> int | None:
    """The project of a background task; None for one that there is not, or that belongs to no project."""
    row = await one_or_none(db, "SELECT project_id FROM queue_item WHERE id = %(id)s", {"id": item_id})
    return None if row is None or row["project_id"] is None else int(row["project_id"])


async def accounts(shard: Database, user_ids: Sequence[int]) -> list[AccountState | None]:
    """Accounts as a shard has them, in the order of the ids; None for those that have not arrived."""
    return await fetch_each(
        shard,
        AccountState,
        "SELECT a.id, a.name, a.fullname, a.admin, a.locale"
        " FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY i(id, nth) LEFT JOIN account a ON a.id = i.id ORDER BY i.nth",
        {"ids": [*user_ids]},
    )
