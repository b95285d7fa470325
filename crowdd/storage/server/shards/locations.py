"""Where projects live."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.storage.database import Database, fetch_each, fetch_rows
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


async def by_name(home: Database, names: Sequence[str]) -> list[int]:
    """The project of each short name, in their order; 0 for none. Home has a row of each project."""
    rows = await home.fetch(
        "SELECT coalesce(p.id, 0) AS id FROM unnest(%(names)s::text[]) WITH ORDINALITY n(name, nth)"
        " LEFT JOIN project p ON p.short_name = n.name ORDER BY n.nth",
        {"names": [*names]},
    )
    return [int(row["id"]) for row in rows]


async def by_row(db: Database, table: str, ids: Sequence[int]) -> list[int]:
    """The project of each row of a table, in their order; 0 where a row does not exist or belongs to no project."""
    rows = await db.fetch(
        "SELECT coalesce(t.project_id, 0) AS id FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY i(id, nth)"
        f" LEFT JOIN LATERAL (SELECT project_id FROM {table} r WHERE r.id = i.id LIMIT 1) t ON true ORDER BY i.nth",
        {"ids": [*ids]},
    )
    return [int(row["id"]) for row in rows]


async def accounts(shard: Database, user_ids: Sequence[int]) -> list[AccountState | None]:
    """Accounts as a shard has them, in the order of the ids; None for those that have not arrived."""
    return await fetch_each(
        shard,
        AccountState,
        "SELECT a.id, a.name, a.fullname, a.admin, a.locale"
        " FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY i(id, nth) LEFT JOIN account a ON a.id = i.id ORDER BY i.nth",
        {"ids": [*user_ids]},
    )
