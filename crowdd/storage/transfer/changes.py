"""What changed in a project behind a position: rows, and ids of rows that were deleted (definitions 66, record 196).

A position is the number of a transaction, so that none appears late before the horizon of a snapshot. The statements of one
reading belong in one transaction that ``exports.begin`` has begun.
"""

from __future__ import annotations

import attrs

from crowdd.storage.database import Database, one
from crowdd.storage.transfer.exports import CHANGED, Chosen, Lines, json_lines

START = -1
"""The position before everything."""
PRUNED = 5000  # tombstones of one transaction


@attrs.frozen
class Feed:
    """How far the changes of a kind in a project go.

    ``horizon``: nothing appears before this position any more. ``base``: positions up to it are from before the database
    moved; ``moved`` is the last of them. ``pruned``: tombstones up to it may be missing. ``epoch`` is another when all rows
    look different.
    """

    horizon: int
    base: int
    epoch: int
    pruned: int
    moved: int


async def feed(db: Database, project_id: int, table: str) -> Feed:
    """As of the snapshot of this statement; ``table`` is that of the kind."""
    row = await one(
        db,
        "SELECT change_horizon() AS horizon, c.change_base AS base, coalesce(f.epoch, 0) AS epoch, coalesce(f.pruned, 0) AS pruned,"
        " coalesce(f.moved, 0) AS moved FROM cluster c LEFT JOIN change_feed f ON f.project_id = %(project)s AND f.kind = %(kind)s",
        {"project": project_id, "kind": table},
    )
    return Feed(**row)


async def last(db: Database, project_id: int, table: str, after: int, horizon: int) -> int | None:
    """The position of the last change behind ``after`` and before ``horizon``; None if there is none."""
    row = await one(
        db,
        "SELECT last_change(%(project)s, %(kind)s, %(after)s, %(horizon)s) AS last",
        {"project": project_id, "kind": table, "after": after, "horizon": horizon},
    )
    return None if row["last"] is None else int(row["last"])


def tombstones(table: str, chosen: Chosen) -> Lines:
    """A line ``{"id": …, "deleted": true}`` for each deleted row, among the changes of ``chosen``."""
    rows = f"tombstone t WHERE t.kind = '{table}' AND {CHANGED}"
    return json_lines(rows, chosen, """concat('{"id":', t.id, ',"deleted":true}')""", b"\n")


async def prune(db: Database, days: int) -> int:
    """Deletes the next tombstones that are older than so many days; 0 when there are none."""
    row = await one(
        db,
        "SELECT prune_tombstones(clock() - make_interval(days => %(days)s), %(maximum)s) AS n",
        {"days": days, "maximum": PRUNED},
    )
    return int(row["n"])
