"""Tables whose pages cannot be read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import attrs
import psycopg2

from crowdd.storage.connections.connection import first_line
from crowdd.storage.database import Database, Transactions

_TABLES: Final = (
    "SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = 'public' AND c.relkind = 'r' ORDER BY 1"
)
# Every page of the table itself, in its order. A hash of a whole row needs all of its values, the large ones, too.
_READ: Final = 'SELECT sum(hashtext(t::text)::bigint) FROM public."{}" t'
_SETTINGS: Final = (
    "SET LOCAL statement_timeout = 0; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL enable_seqscan = on;"
    " SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off"
)


@attrs.frozen
class Damage:
    """A table that cannot be read to its end, and PostgreSQL's words."""

    table: str
    error: str


async def damaged_tables(db: Transactions) -> AsyncIterator[Damage]:
    """Reads every row of every table, one table after the other, on one processor; a server beside it goes on.

    Nothing is changed. Indexes are not read. Raises UnavailableError.
    """
    for row in await db.fetch(_TABLES):
        error = await _damage(db, row["name"])
        if error:
            yield Damage(row["name"], error)


async def _damage(db: Transactions, table: str) -> str:
    async def read(tx: Database) -> None:
        await tx.execute(_SETTINGS)
        await tx.execute(_READ.format(table))

    try:
        await db.transaction(read)
    except (psycopg2.InternalError, psycopg2.OperationalError) as error:  # XX: a damaged page or value; 58: the file
        return first_line(error)
    return ""
