"""The audit log: append-only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from crowdd.logs import request_id
from crowdd.requester import Requester
from crowdd.storage.core.keyset import Keyset, KeysetPage
from crowdd.storage.core.rows import AuditEntry
from crowdd.storage.database import Database, Row, as_json, fetch_rows

_KEYS = ("id",)
_SHOWN = 10_000  # characters of a value that are kept


async def write(
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


async def write_each(db: Database, who: Requester, action: str, kind: str, ids: Sequence[int]) -> None:
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
            change = {"attribute": name, "before": shortened(row[name]), "after": shortened(value)}
            await write(db, who, "update", kind, row["id"], **of, **change)


def shortened(value: object) -> Any:
    """The value, or the beginning of its text where it is too long for the log."""
    return value if len(str(value)) <= _SHOWN else f"{str(value)[:_SHOWN]}…"


async def latest(
    db: Database,
    place: Keyset,
    *,
    user: str | None = None,
    kind: str | None = None,
    project: int | None = None,
    since: datetime | None = None,
    origins: bool = False,
) -> KeysetPage[AuditEntry]:
    """A page of acts in the order of time; ``user`` is a name, ``kind`` what was acted upon, ``project`` in which.

    ``origins``: with the network and the request that each came from, for administrators.
    """
    more = ", network, request_id" if origins else ""
    where = [
        words
        for words, value in (
            ("user_name = %(user)s", user),
            ("kind = %(kind)s", kind),
            ("project_id = %(project)s", project),
            ("at >= %(since)s", since),
        )
        if value is not None
    ]
    chosen = " AND ".join([*where, place.beside("audit", "id", _KEYS)])
    rows = await fetch_rows(
        db,
        AuditEntry,
        "SELECT id, at, user_id, user_name, via, action, kind, object_id, project_id, attribute, before, after"
        f"{more} FROM audit WHERE {chosen} {place.limited(_KEYS)}",
        {**place.values(), "user": user, "kind": kind, "project": project, "since": since},
    )
    return place.part(rows)


async def kinds(db: Database) -> list[str]:
    """What was ever acted upon, found by jumps through the index."""
    rows = await db.fetch(
        "WITH RECURSIVE k AS ((SELECT kind FROM audit ORDER BY kind LIMIT 1) UNION ALL"
        " SELECT (SELECT a.kind FROM audit a WHERE a.kind > k.kind ORDER BY a.kind LIMIT 1) FROM k WHERE k.kind IS NOT NULL)"
        " SELECT kind FROM k WHERE kind IS NOT NULL"
    )
    return [row["kind"] for row in rows]
