"""Whether the disk of the database has room again, after a statement found that it was full."""

from __future__ import annotations

from crowdd.storage.database import Database, Transactions

# More than what tables have left in their last pages. It is not written to the log of PostgreSQL, and goes with its transaction.
_FILL = "CREATE TEMP TABLE room ON COMMIT DROP AS SELECT gen_random_uuid() AS filling FROM generate_series(1, 50000)"


async def look(db: Transactions) -> None:
    """Writes two megabytes that do not stay. Raises NoSpaceError where they do not fit; else ``db`` has room again.

    A role that may not make temporary tables is believed.
    """

    async def fill(tx: Database) -> None:
        rows = await tx.fetch("SELECT has_database_privilege(current_database(), 'TEMP') AS may")
        if rows[0]["may"]:
            await tx.execute(_FILL)

    await db.transaction(fill)
    db.no_space = False
