"""SQL of the audit log, which is append-only, of the security log, and of the networks that API keys are used from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import product
from typing import Any

import attrs

from crowdd.core.records import statements as record_statements
from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.core.rows import AuditEntry, SecurityEntry
from crowdd.database.access import Database, Row, as_json, fetch_rows
from crowdd.kernel.logs import request_id
from crowdd.kernel.requester import Requester

_KEYS = ("id",)
_SHOWN = 10_000  # characters of a value that are kept


async def write_act(
    db: Database,
    who: Requester,
    action: str,
    kind: str,
    object_id: int | None,
    *,
    project_id: int | None = None,
    attribute: str | None = None,
    before: object = None,
    after: object = None,
) -> None:
    """One act: who did what to which object. Secrets never go in; say only that they changed."""
    await db.execute(
        "INSERT INTO audit (at, user_id, user_name, via, action, kind, object_id, project_id, attribute, before, after, network, request_id)"
        " VALUES (clock(), %(user_id)s, %(user_name)s, %(via)s, %(action)s, %(kind)s, %(object_id)s, %(project_id)s, %(attribute)s,"
        " %(before)s, %(after)s, %(network)s, %(request_id)s)",
        {
            "user_id": who.user_id,
            "user_name": who.user_name,
            "via": who.via,
            "action": action,
            "kind": kind,
            "object_id": object_id,
            "project_id": project_id,
            "attribute": attribute,
            "before": None if before is None else as_json(before),
            "after": None if after is None else as_json(after),
            "network": who.network,
            "request_id": request_id.get(),
        },
    )


async def write_acts(db: Database, who: Requester, action: str, kind: str, ids: Sequence[int]) -> None:
    """The same act on each of these objects."""
    await db.execute(
        "INSERT INTO audit (at, user_id, user_name, via, action, kind, object_id, network, request_id)"
        " SELECT clock(), %(user_id)s, %(user_name)s, %(via)s, %(action)s, %(kind)s, id, %(network)s, %(request_id)s"
        " FROM unnest(%(ids)s::bigint[]) id ORDER BY id",
        {
            "user_id": who.user_id,
            "user_name": who.user_name,
            "via": who.via,
            "action": action,
            "kind": kind,
            "ids": list(ids),
            "network": who.network,
            "request_id": request_id.get(),
        },
    )


async def write_changes(db: Database, who: Requester, kind: str, row: Row, changes: Mapping[str, object]) -> None:
    """An entry for each attribute of a row that has another value now, in the log of its project where it has one."""
    of = {"project_id": row.get("project_id")}
    for name, value in changes.items():
        if row[name] != value:
            change = {"attribute": name, "before": shorten_value(row[name]), "after": shorten_value(value)}
            await write_act(db, who, "update", kind, row["id"], **of, **change)


def shorten_value(value: object) -> Any:
    """The value, or the beginning of its text where it is too long for the log."""
    return value if len(str(value)) <= _SHOWN else f"{str(value)[:_SHOWN]}…"


@attrs.frozen
class ActFilter:
    """Which acts: ``user`` is a name, ``kind`` what was acted upon, ``project`` in which. None means any."""

    user: str | None = None
    kind: str | None = None
    project: int | None = None
    since: datetime | None = None


_FILTERS = {
    "user": "user_name = %(user)s",
    "kind": "kind = %(kind)s",
    "project": "project_id = %(project)s",
    "since": "at >= %(since)s",
}


async def list_acts(db: Database, place: Keyset, wanted: ActFilter, *, origins: bool = False) -> KeysetPage[AuditEntry]:
    """A page of acts in the order of time.

    ``origins``: with the network and the request that each came from, for administrators.
    """
    more = ", network, request_id" if origins else ""
    values = attrs.asdict(wanted)
    where = [words for name, words in _FILTERS.items() if values[name] is not None]
    chosen = " AND ".join([*where, place.beside("audit", "id", _KEYS)])
    rows = await fetch_rows(
        db,
        AuditEntry,
        "SELECT id, at, user_id, user_name, via, action, kind, object_id, project_id, attribute, before, after"
        f"{more} FROM audit WHERE {chosen} {place.limited(_KEYS)}",
        {**place.values(), **values},
    )
    return place.part(rows)


async def list_kinds(db: Database) -> list[str]:
    """What was ever acted upon, found by jumps through the index."""
    rows = await db.fetch(
        "WITH RECURSIVE k AS ((SELECT kind FROM audit ORDER BY kind LIMIT 1) UNION ALL"
        " SELECT (SELECT a.kind FROM audit a WHERE a.kind > k.kind ORDER BY a.kind LIMIT 1) FROM k WHERE k.kind IS NOT NULL)"
        " SELECT kind FROM k WHERE kind IS NOT NULL"
    )
    return [row["kind"] for row in rows]


MAX_KEY_NETWORKS = 100  # of one key that are remembered

_COLUMNS = ("kind", "user_id", "actor_id", "tried", "network", "request_id", "agent", "detail")


async def insert_security_entry(db: Database, entry: Mapping[str, object]) -> None:
    """Write an entry in a row of its own."""
    marks = ", ".join(f"%({name})s" for name in _COLUMNS)
    await db.execute(
        f"INSERT INTO security_log (at, last_at, {', '.join(_COLUMNS)}) VALUES (clock(), clock(), {marks})", entry
    )


async def add_security_entries(db: Database, entries: Sequence[Mapping[str, object]]) -> None:
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


async def note_key_uses(db: Database, uses: Sequence[tuple[bytes, str, int]]) -> set[tuple[bytes, str]]:
    """Remember (key hash, network, account) of keys in use; which (key hash, network) were not known before.

    A key keeps its MAX_KEY_NETWORKS latest networks.
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
        {"keys": list(keys), "max": MAX_KEY_NETWORKS},
    )


async def list_security_entries(
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


async def delete_security_entries(db: Database, days: int) -> int:
    """Remove entries, and networks of keys, that are older; how many there were."""
    values = {"days": days}
    old = "clock() - make_interval(days => %(days)s)"
    gone = await record_statements.delete_in_batches(db, "security_log", f"at <= {old}", values)
    return gone + await record_statements.delete_in_batches(db, "key_network", f"last_seen <= {old}", values)
