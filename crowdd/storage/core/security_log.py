"""The security log and the networks that API keys were used from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import product

from crowdd.storage.core import batch_delete
from crowdd.storage.core.keyset import Keyset, KeysetPage
from crowdd.storage.core.rows import SecurityEntry
from crowdd.storage.database import Database, fetch_rows

MAX_NETWORKS = 100  # of one key that are remembered

_KEYS = ("id",)
_COLUMNS = ("kind", "user_id", "actor_id", "tried", "network", "request_id", "agent", "detail")


async def insert(db: Database, entry: Mapping[str, object]) -> None:
    """Write an entry in a row of its own."""
    marks = ", ".join(f"%({name})s" for name in _COLUMNS)
    await db.execute(
        f"INSERT INTO security_log (at, last_at, {', '.join(_COLUMNS)}) VALUES (clock(), clock(), {marks})", entry
    )


async def add(db: Database, entries: Sequence[Mapping[str, object]]) -> None:
    """Add entries to the rows that they share with equal ones of this hour; each has ``count`` besides the columns.

    No two of them may share a row. They are written in one order, so that two processes never wait for each other.
    """
    values = {name: [entry[name] for entry in entries] for name in (*_COLUMNS, "count")}
    await db.execute(
        f"INSERT INTO security_log AS s (bucket, at, last_at, count, {', '.join(_COLUMNS)})"
        f" SELECT date_trunc('hour', clock()), clock(), clock(), count, {', '.join(_COLUMNS)}"
        " FROM unnest(%(count)s::bigint[], %(kind)s::text[], %(user_id)s::bigint[], %(actor_id)s::bigint[], %(tried)s::text[],"
        " %(network)s::text[], %(request_id)s::text[], %(agent)s::text[], %(detail)s::text[])"
        f" e(count, {', '.join(_COLUMNS)}) ORDER BY kind, network, user_id, actor_id, tried, detail"
        " ON CONFLICT (bucket, kind, network, user_id, actor_id, tried, detail) WHERE bucket IS NOT NULL"
        " DO UPDATE SET count = s.count + excluded.count, last_at = excluded.last_at",
        values,
    )


async def keys_seen(db: Database, uses: Sequence[tuple[bytes, str, int]]) -> set[tuple[bytes, str]]:
    """Remember (key hash, network, account) of keys in use; which (key hash, network) were not known before.

    A key keeps its MAX_NETWORKS latest networks.
    """
    values = {"keys": [use[0] for use in uses], "networks": [use[1] for use in uses], "users": [use[2] for use in uses]}
    rows = await db.fetch(
        "INSERT INTO key_network AS n (key_hash, network, user_id, first_seen, last_seen)"
        " SELECT k.key_hash, k.network, a.id, clock(), clock()"
        " FROM unnest(%(keys)s::bytea[], %(networks)s::text[], %(users)s::bigint[]) k(key_hash, network, user_id)"
        " JOIN account a ON a.id = k.user_id ORDER BY 1, 2 FOR KEY SHARE OF a"
        " ON CONFLICT (key_hash, network) DO UPDATE SET last_seen = excluded.last_seen"
        " RETURNING key_hash, network, last_seen = first_seen AS new",
        values,
    )
    new_keys = {(bytes(row["key_hash"]), row["network"]) for row in rows if row["new"]}
    if new_keys:
        await _forget_oldest(db, [key for key, _network in new_keys])
    return new_keys


async def _forget_oldest(db: Database, keys: Sequence[bytes]) -> None:
    await db.execute(
        "DELETE FROM key_network n USING (SELECT key_hash, network, row_number() OVER (PARTITION BY key_hash"
        " ORDER BY last_seen DESC, network) AS nth FROM key_network WHERE key_hash = ANY (%(keys)s::bytea[])) o"
        " WHERE n.key_hash = o.key_hash AND n.network = o.network AND o.nth > %(max)s",
        {"keys": list(keys), "max": MAX_NETWORKS},
    )


async def latest(
    db: Database,
    place: Keyset,
    *,
    account: int | None = None,
    tried: str | None = None,
    kinds: Sequence[str] | None = None,
    since: datetime | None = None,
) -> KeysetPage[SecurityEntry]:
    """A page of entries with the names of their accounts, in the order in which they were begun.

    With ``account`` or ``tried`` (a keyed hash) those about the account or by it, or about what was typed. Each of these
    has an index, and a page is made of the first entries of each.
    """
    where = [place.beside("security_log", "id", _KEYS)]
    where += ["last_at >= %(since)s"] if since is not None else []
    subjects = {"user_id = %(account)s": account, "actor_id = %(account)s": account, "tried = %(tried)s": tried}
    about = [subject for subject, value in subjects.items() if value is not None] or ["true"]
    of_kinds = {f"kind_{number}": kind for number, kind in enumerate(kinds or ())}
    one_of = [f"kind = %({name})s" for name in of_kinds] or ["true"]
    union_query = " UNION ".join(
        f"(SELECT * FROM security_log WHERE {' AND '.join([*where, *both])} {place.limited(_KEYS)})"
        for both in product(about, one_of)
    )
    rows = await fetch_rows(
        db,
        SecurityEntry,
        "SELECT s.id, s.at, s.last_at, s.count, s.kind, s.user_id, u.name AS user_name, s.actor_id, a.name AS actor_name,"
        " s.tried, s.network, s.request_id, s.agent, s.detail"
        f" FROM (SELECT * FROM ({union_query}) x {place.limited(_KEYS)}) s"
        " LEFT JOIN account u ON u.id = s.user_id LEFT JOIN account a ON a.id = s.actor_id"
        f" ORDER BY s.id {'DESC' if place.reads_down else 'ASC'}",
        {**place.values(), **of_kinds, "account": account, "tried": tried, "since": since},
    )
    return place.part(rows)


async def sweep(db: Database, days: int) -> int:
    """Remove entries, and networks of keys, that are older; how many there were."""
    values = {"days": days}
    old = "clock() - make_interval(days => %(days)s)"
    gone = await batch_delete.sweep(db, "security_log", f"at <= {old}", values)
    return gone + await batch_delete.sweep(db, "key_network", f"last_seen <= {old}", values)
