"""Brings a database to the version of this code: numbered migrations, then the definitions of views and functions.

Migrations change tables and run once each, in order, all in one transaction under an advisory lock. Definitions hold
no data: they live in the schema ``code``, which is created again whenever their text changed.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import attrs
from psycopg2.errors import InsufficientPrivilege

from crowdd.errors import CrowddError
from crowdd.storage import schedulers
from crowdd.storage.connections.connection import first_line
from crowdd.storage.database import Database, Transactions

HERE = Path(__file__).parent
SEARCH_PATH = "SET search_path = public, code"
_LOCK = 0x63726F77  # any number, the same for all of ours


class SchemaError(CrowddError):
    """The database is newer than this code, or older than this code can serve."""

    code = "schema"


@attrs.frozen
class Status:
    """Where a database stands: numbers of migrations, and whether the definitions are those of this code."""

    applied: tuple[int, ...]
    known: tuple[int, ...]
    definitions_current: bool

    @property
    def current(self) -> bool:
        """Nothing is to be done."""
        return self.applied == self.known and self.definitions_current

    def require(self) -> None:
        """Raises SchemaError unless this code can serve the database."""
        self.require_known()
        if not self.current:
            raise SchemaError("The database is older than this crowdd. Run: crowdctl db upgrade")

    def require_known(self) -> None:
        """Raises SchemaError for a database that a newer crowdd has made."""
        if set(self.applied) - set(self.known):
            raise SchemaError("The database was created by a newer crowdd. Install that version, or restore a backup.")


def migrations() -> dict[int, Path]:
    """The files of migrations by number."""
    found = {int(path.name.split("_")[0]): path for path in (HERE / "migrations").rglob("*.sql")}
    return dict(sorted(found.items()))


def definitions() -> str:
    """The SQL of all views and functions: files in the order of their names, whatever folder they are in."""
    folder = HERE / "definitions"
    texts = [path.read_text("utf-8") for path in sorted(folder.rglob("*.sql"), key=_name)]
    return "\n".join([*texts, schedulers.dispatch(schedulers.names(folder / "schedulers"))])


def _name(path: Path) -> str:
    return path.name


def _fingerprint(sql: str) -> str:
    return hashlib.sha256(sql.encode()).hexdigest()


async def status(db: Database) -> Status:
    """Where the database stands; it may be empty."""
    known = tuple(migrations())
    rows = await db.fetch("SELECT to_regclass('public.migration') AS there")
    if rows[0]["there"] is None:
        return Status((), known, False)
    applied = tuple(row["number"] for row in await db.fetch("SELECT number FROM public.migration ORDER BY number"))
    laid = [row["fingerprint"] for row in await db.fetch("SELECT fingerprint FROM public.definition")]
    return Status(applied, known, laid == [_fingerprint(definitions())])


async def upgrade(db: Transactions) -> list[int]:
    """Applies what is missing, all or nothing, and says which migrations those were.

    Raises SchemaError when the database is newer than this code, or its user may not make tables there.
    """
    try:
        return await db.transaction(_upgrade)
    except InsufficientPrivilege as error:
        raise SchemaError(
            f"The database refuses the upgrade: {first_line(error)}.",
            hint="Connect as the owner of the database, who can create tables and extensions.",
        ) from error


async def _upgrade(tx: Database) -> list[int]:
    await tx.execute("SET LOCAL statement_timeout = 0")
    await tx.fetch("SELECT pg_advisory_xact_lock(%(lock)s)", {"lock": _LOCK})
    await tx.execute(
        "CREATE TABLE IF NOT EXISTS public.migration (number int PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL DEFAULT now());"
        "CREATE TABLE IF NOT EXISTS public.definition (fingerprint text NOT NULL)"
    )
    now = await status(tx)
    if set(now.applied) - set(now.known):
        now.require()
    missing = [number for number in now.known if number not in now.applied]
    if missing or not now.definitions_current:
        # First: a column that a view names could neither be dropped nor change its type.
        await tx.execute("DROP SCHEMA IF EXISTS code CASCADE")
        for number in missing:
            await _apply(tx, number, migrations()[number])
        await _define(tx, definitions())
    return missing


async def _apply(tx: Database, number: int, path: Path) -> None:
    # A table with changes that a trigger has still to see at the commit cannot be altered.
    await tx.execute("SET LOCAL search_path = public; SET CONSTRAINTS ALL IMMEDIATE")
    await tx.execute(path.read_text("utf-8"))
    await tx.execute(
        "INSERT INTO public.migration (number, name) VALUES (%(number)s, %(name)s)",
        {"number": number, "name": re.sub(r"^\d+_|\.sql$", "", path.name)},
    )


async def _define(tx: Database, sql: str) -> None:
    await tx.execute("CREATE SCHEMA code; SET LOCAL search_path = code, public")
    await tx.execute("SET LOCAL check_function_bodies = off")
    await tx.execute(sql)
    await tx.execute("DELETE FROM public.definition")
    await tx.execute("INSERT INTO public.definition VALUES (%(print)s)", {"print": _fingerprint(sql)})
