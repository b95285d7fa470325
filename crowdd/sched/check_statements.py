"""Counters beside a recount of the rows (definitions/server/90_check.sql)."""

from __future__ import annotations

from crowdd.database.access import Database, Row, Transactions, now, typed
from crowdd.sched.rows import CounterDifference

MAX_DIFFERENCES = 1000


async def list_projects_after(db: Database, project_id: int, maximum: int) -> list[int]:
    """The next projects in the order of their ids."""
    rows = await db.fetch(
        "SELECT project_id FROM project_ledger WHERE project_id > %(last)s ORDER BY 1 LIMIT %(maximum)s",
        {"last": project_id, "maximum": maximum},
    )
    return [row["project_id"] for row in rows]


async def list_differences(db: Transactions, function: str, project_id: int | None) -> list[CounterDifference]:
    """What a check finds, in one snapshot.

    Of very many only the first MAX_DIFFERENCES come; ``total`` is how many there are.
    """
    sql = (
        "SELECT project_id, what, key, stored, counted, count(*) OVER () AS total"
        f" FROM {function}(%(project)s, %(now)s) LIMIT {MAX_DIFFERENCES}"
    )
    return typed(CounterDifference, await _patiently(db, sql, project_id))


async def repair_counters(db: Transactions, function: str, project_id: int | None) -> None:
    """Runs the repair that belongs to a check."""
    await _patiently(db, f"SELECT {function}(%(project)s, %(now)s)", project_id)


async def _patiently(db: Transactions, sql: str, project_id: int | None) -> list[Row]:
    """A statement that reads all rows of a project; it takes its time, and plans that fit a scan of them.

    The time comes as a value: a check becomes part of the statement, which would call ``clock()`` for each row.
    """

    async def work(tx: Database) -> list[Row]:
        await tx.execute(
            "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '1min'; SET LOCAL enable_seqscan = on"
        )
        return await tx.fetch(sql, {"project": project_id, "now": await now(tx)})

    return await db.transaction(work)


async def know_cluster(db: Transactions, *, restored: bool = False) -> bool:
    """Makes positions start over where the database was restored into another PostgreSQL; whether it was.

    ``restored``: it has just been restored, perhaps into the same one.
    """
    rows = await _patiently(db, f"SELECT know_cluster(%(now)s, {restored}) AS other", None)
    return bool(rows[0]["other"])
