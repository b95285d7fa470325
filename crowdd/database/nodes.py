"""Servers that run on this database: a row for each process, and a lock that PostgreSQL frees when the process dies."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

import attrs

from crowdd.database.access import Database, fetch_rows, one


class NodeState(TypedDict):
    """A server with its processes. ``migration`` is the newest that it knows."""

    name: str
    host: str
    version: str
    migration: int
    started: datetime
    seen: datetime
    processes: int
    state: str


@attrs.frozen
class RunningProcess:
    """What a running process was written for."""

    name: str
    version: str
    newest_migration: int
    fingerprint: str


UPGRADE_LOCK = 0x63726F77  # any number, the same for all upgrades of a database
GONE_DAYS = 1
"""Days for which the row of a process that died is shown."""

_LOCK = "hashtextextended('node ' || {}, 0)"
_OF_ROW = _LOCK.format("id || '/' || worker")
_IS_GONE = f"pg_try_advisory_xact_lock_shared({_OF_ROW})"  # the lock is asked for and let go


@attrs.frozen
class Process:
    """What a process says about itself. ``id`` is of one start of the server, ``worker`` 0 where it is the only process."""

    id: str
    worker: int
    name: str
    host: str
    version: str
    newest_migration: int
    fingerprint: str


async def hold(session: Database, process: Process) -> bool:
    """Whether the session shows that the process is alive: it takes its lock unless it has it already.

    ``session`` is a database of one connection. The lock ends with the connection, and so does the note that it is held.
    """
    row = await one(
        session,
        "SELECT CASE WHEN current_setting('crowdd.node', true) = %(lock)s THEN true"
        f" WHEN pg_try_advisory_lock({_LOCK.format('%(lock)s::text')})"
        " THEN set_config('crowdd.node', %(lock)s, false) = %(lock)s ELSE false END AS held",
        {"lock": f"{process.id}/{process.worker}"},
    )
    return bool(row["held"])


async def announce(session: Database, process: Process) -> None:
    """Adds the row of a process whose lock is held, and removes those of earlier starts that died.

    Waits for an upgrade that is under way: either the upgrade sees the row, or the process sees what was upgraded.
    """
    await session.execute(
        f"DELETE FROM node WHERE (name, host) = (%(name)s, %(host)s) AND id <> %(id)s AND {_IS_GONE}",
        attrs.asdict(process),
    )
    await session.execute(
        "INSERT INTO node (id, worker, name, host, version, newest_migration, fingerprint, started, seen, draining)"
        " SELECT %(id)s, %(worker)s, %(name)s, %(host)s, %(version)s, %(newest_migration)s, %(fingerprint)s, clock(), clock(), false"
        " FROM (SELECT pg_advisory_xact_lock_shared(%(upgrade)s)) waited"
        " ON CONFLICT (id, worker) DO UPDATE SET seen = EXCLUDED.seen, started = EXCLUDED.started",
        {**attrs.asdict(process), "upgrade": UPGRADE_LOCK},
    )


async def heartbeat(session: Database, process: Process, *, draining: bool) -> bool:
    """Note that a process is there. False if its row is gone."""
    changed = await session.execute(
        "UPDATE node SET seen = clock(), draining = %(draining)s WHERE id = %(id)s AND worker = %(worker)s",
        {"id": process.id, "worker": process.worker, "draining": draining},
    )
    return changed > 0


async def delete_gone(db: Database) -> int:
    """Remove the rows of processes that died long ago; how many. Not on the session of a process, which has its lock."""
    return await db.execute(
        f"DELETE FROM node WHERE seen < clock() - make_interval(days => {GONE_DAYS}) AND {_IS_GONE}"
    )


async def leave(db: Database, process: Process) -> None:
    """Removes the row of a process that ends."""
    await db.execute(
        "DELETE FROM node WHERE id = %(id)s AND worker = %(worker)s", {"id": process.id, "worker": process.worker}
    )


async def overview(db: Database) -> list[NodeState]:
    """All nodes by name, with those that died lately; ``state`` is ready, draining or gone."""
    return await fetch_rows(
        db,
        NodeState,
        "SELECT name, host, version, newest_migration AS migration, min(started) AS started, max(seen) AS seen,"
        " count(*) FILTER (WHERE NOT gone) AS processes,"
        " CASE WHEN bool_and(gone) THEN 'gone' WHEN bool_or(draining AND NOT gone) THEN 'draining' ELSE 'ready' END AS state"
        f" FROM (SELECT *, {_IS_GONE} AS gone FROM node OFFSET 0) n"
        " GROUP BY id, name, host, version, newest_migration ORDER BY name, min(started), id",
    )


async def running(db: Database) -> list[RunningProcess]:
    """The kinds of processes that run; none where the database has no table of them yet."""
    if (await one(db, "SELECT to_regclass('public.node') AS there"))["there"] is None:
        return []
    return await fetch_rows(
        db,
        RunningProcess,
        "SELECT DISTINCT name, version, newest_migration, fingerprint"
        f" FROM (SELECT * FROM public.node WHERE NOT {_IS_GONE} OFFSET 0) n ORDER BY name, version",
    )
