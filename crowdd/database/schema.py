"""Bring a database to the version of this code: numbered migrations, then the definitions of views and functions.

The first migration makes the tables of release 0.1.0 (``schema``), the later ones change tables (``migrations``). They
run once each, in order, all in one transaction under an advisory lock. Definitions hold no data: they live in the
schema ``code``, which is created again whenever their text changed.

Servers of an earlier version may go on while the database is newer than they are, unless a migration or a changed
function takes away what they use. An upgrade that would is refused while such servers run (record 51). The first line
of a migration says which kind it is::

    -- expands: <what is added>
    -- contracts after 2: <what goes; servers that know migration 2 do not use it>
    -- contracts: <what goes; every earlier version uses it>

What the schema ``code`` offers is compared with what statements use: functions with each number of arguments that they
can be called with, views column by column. Each scheduler is a file in ``definitions/schedulers``;
``depth_first.sql`` says how to write one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import psycopg2
from psycopg2.errors import InsufficientPrivilege

from crowdd import PACKAGE, __version__
from crowdd.database import nodes
from crowdd.database.access import Database, Row, Transactions, one
from crowdd.database.errors import first_line
from crowdd.database.nodes import RunningProcess
from crowdd.kernel.errors import CrowddError

_DECLARATION = re.compile(r"-- (?:(expands)|contracts(?: after (\d+))?): \S")


@attrs.frozen
class MigrationKind:
    """``contracts``: something that earlier versions use goes. ``after``: those that know this migration do not use it."""

    contracts: bool
    after: int | None = None

    def is_borne_by(self, newest: int) -> bool:
        """Whether a server can go on that knows the migrations up to ``newest``."""
        return not self.contracts or (self.after is not None and self.after <= newest)


UNDECLARED_KIND = MigrationKind(contracts=True)


def kind_of(sql: str) -> MigrationKind:
    """What a migration says about itself. One that says nothing contracts."""
    declaration = _DECLARATION.match(sql)
    if declaration is None:
        return UNDECLARED_KIND
    return MigrationKind(not declaration[1], int(declaration[2]) if declaration[2] else None)


def declares_kind(sql: str) -> bool:
    """Whether a migration says of which kind it is."""
    return _DECLARATION.match(sql) is not None


_FUNCTIONS = """
SELECT p.proname AS name, p.pronargs - p.pronargdefaults AS fewest, pg_get_function_result(p.oid) AS result,
       ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY a(t, nth) ORDER BY nth) AS types,
       ARRAY(SELECT concat(p.proargnames[n], ' ', format_type(p.proallargtypes[n], NULL))
               FROM generate_subscripts(p.proargmodes, 1) n WHERE p.proargmodes[n] <> 'i' ORDER BY n) AS columns
  FROM pg_proc p WHERE p.pronamespace = 'code'::regnamespace
"""
_COLUMNS = """
SELECT c.relname AS view, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE c.relnamespace = 'code'::regnamespace AND c.relkind IN ('v', 'm') AND a.attnum > 0 AND NOT a.attisdropped
"""


async def list_offered_code(db: Database) -> list[str]:
    """All that statements can name, sorted."""
    functions = [way for row in await db.fetch(_FUNCTIONS) for way in _ways_to_call(row)]
    columns = [f"{row['view']}.{row['name']} {row['type']}" for row in await db.fetch(_COLUMNS)]
    return sorted([*functions, *columns])


def _ways_to_call(row: Row) -> Iterator[str]:
    gives = f"{row['result']} ({', '.join(row['columns'])})" if row["columns"] else row["result"]
    for number in range(row["fewest"], len(row["types"]) + 1):
        yield f"{row['name']}({', '.join(row['types'][:number])}) -> {gives}"


def select_used_code(ways: Iterable[str], words: Collection[str]) -> list[str]:
    """Those that statements with these words may use: functions that they name, and every column of a view.

    Functions that only other functions call may come and go.
    """
    return [way for way in ways if "(" not in way or " -> " not in way or way.partition("(")[0] in words]


def words_of_statements(folder: Path) -> frozenset[str]:
    """The words of all modules below a folder."""
    return frozenset(
        word for path in folder.rglob("*.py") for word in re.findall(r"[a-z_][a-z0-9_]*", path.read_text("utf-8"))
    )


SCHEDULERS_FOLDER = PACKAGE / "database/definitions/schedulers"
FALLBACK_SCHEDULER = "depth_first"  # for a project whose scheduler's file is gone
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def list_schedulers(folder: Path = SCHEDULERS_FOLDER) -> tuple[str, ...]:
    """The names that ``project.info.sched`` may have."""
    return tuple(sorted(path.stem for path in folder.glob("*.sql") if _NAME.fullmatch(path.stem)))


def build_scheduler_dispatch(known: Iterable[str]) -> str:
    """The functions that choose among schedulers by name: mode_of and next_scan."""
    others = sorted(
        (name for name in known if name != FALLBACK_SCHEDULER), key=lambda name: name != "default"
    )  # most ask for it
    modes = "\n".join(f"    WHEN '{name}' THEN RETURN {name}_mode();" for name in others)
    scans = "\n".join(f"    WHEN '{name}' THEN RETURN {name}_scan(p, p_order, p_scan);" for name in others)
    return f"""
CREATE FUNCTION mode_of(p_sched text) RETURNS assignment_mode STABLE LANGUAGE plpgsql AS $$
BEGIN CASE p_sched
{modes}
    ELSE RETURN {FALLBACK_SCHEDULER}_mode(); END CASE; END $$;
CREATE FUNCTION next_scan(p project_ledger, p_order text, p_scan text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN CASE p.sched
{scans}
    ELSE RETURN {FALLBACK_SCHEDULER}_scan(p, p_order, p_scan); END CASE; END $$;
"""


HERE = Path(__file__).parent
STATEMENTS = PACKAGE
FIRST_RELEASE = "0.1.0"
SEARCH_PATH = "SET search_path = public, code"
MAX_EARLIER = 20  # definitions of earlier versions that are remembered


class SchemaError(CrowddError):
    """The database is newer or older than this code can serve, or running servers could not use it after an upgrade."""

    code = "schema"


@attrs.frozen
class Migration:
    """Files of SQL that run once, in their order. ``name``: what ``crowdctl db status`` shows with the number."""

    number: int
    name: str
    paths: tuple[Path, ...]

    def __str__(self) -> str:
        return f"{self.number:04}_{self.name}"

    @property
    def sql(self) -> str:
        """The text of its files."""
        return "\n".join(path.read_text("utf-8") for path in self.paths)

    @property
    def content(self) -> str:
        """What tells it from another migration of the same number: its statements, without comments and line breaks."""
        return _fingerprint(" ".join(re.sub(r"--.*", "", self.sql).split()))


@attrs.frozen
class Code:
    """What a program wants of its database. A server reads it once, for its files may be replaced while it runs."""

    known: tuple[int, ...]
    fingerprint: str
    version: str
    contents: Mapping[int, tuple[str, str]]  # name and content of each migration

    @classmethod
    def read(cls) -> Code:
        """That of the files as they are now."""
        own = migrations()
        contents = {number: (each.name, each.content) for number, each in own.items()}
        return cls(tuple(own), _fingerprint(definitions()), __version__, contents)


@attrs.frozen
class Status:
    """Where a database stands: numbers of migrations, and whether the definitions are those of this code.

    ``borne``: migrations that this code does not know and can go on with. ``definitions_later``: a newer version created
    the definitions. ``definitions_borne``: they have all that this code uses. ``version``: who created them.
    ``foreign``: migrations that have the number of one of this code, but another name or other statements.
    """

    applied: tuple[int, ...]
    known: tuple[int, ...]
    definitions_current: bool
    borne: frozenset[int] = frozenset()
    definitions_later: bool = False
    definitions_borne: bool = False
    version: str = ""
    foreign: tuple[str, ...] = ()

    @property
    def current(self) -> bool:
        """Nothing is to be done."""
        return self.applied == self.known and self.definitions_current

    @property
    def later(self) -> bool:
        """A newer crowdd has upgraded it."""
        return self.definitions_later or not set(self.applied) <= set(self.known)

    @property
    def served(self) -> bool:
        """This code can serve it."""
        fits = self.definitions_current or (self.later and self.definitions_borne)
        return not self.foreign and fits and set(self.known) <= set(self.applied) <= {*self.known, *self.borne}

    def require(self) -> None:
        """Raises SchemaError unless this code can serve the database."""
        self.require_known()
        if not self.served:
            raise SchemaError("The database is older than this crowdd. Run: crowdctl db upgrade")

    def require_known(self) -> None:
        """Raises SchemaError for a database of a newer or another crowdd that this code cannot serve."""
        if self.foreign:
            raise SchemaError(
                f"Another line of crowdd has made this database: its {', '.join(self.foreign)} differ from those of"
                f" {__version__}. Install the crowdd that made it, or restore a backup into an empty database."
            )
        if self.later and not self.served:
            needed = f"crowdd {self.version} or newer" if self.version else "that version"
            raise SchemaError(
                f"The database was upgraded by a newer crowdd than {__version__}. Install {needed}, or restore a backup."
            )


def migrations() -> dict[int, Migration]:
    """All migrations by number."""
    first = Migration(1, FIRST_RELEASE, tuple(sorted((HERE / "schema").glob("*.sql"))))
    later = [_later(path) for path in sorted((HERE / "migrations").glob("*.sql"))]
    return {each.number: each for each in (first, *later)}


def _later(path: Path) -> Migration:
    number, _, name = path.stem.partition("_")
    return Migration(int(number), name, (path,))


def definitions() -> str:
    """The SQL of all views and functions: files in the order of their names, whatever folder they are in."""
    folder = HERE / "definitions"
    texts = [path.read_text("utf-8") for path in sorted(folder.rglob("*.sql"), key=_name)]
    return "\n".join([*texts, build_scheduler_dispatch(list_schedulers(folder / "schedulers"))])


def _name(path: Path) -> str:
    return path.name


def _fingerprint(sql: str) -> str:
    return hashlib.sha256(sql.encode()).hexdigest()


async def status(db: Database, code: Code | None = None) -> Status:
    """Where the database stands for a program; it may be empty. Without ``code``: for the files as they are now."""
    code = code or Code.read()
    if not (await one(db, "SELECT to_regclass('public.migration') IS NOT NULL AS exists"))["exists"]:
        return Status((), code.known, False)
    rows = await db.fetch("SELECT number, name, content, contracts, after FROM public.migration ORDER BY number")
    laid = await db.fetch("SELECT fingerprint, version, current FROM public.definition")
    newest = max(code.known, default=0)
    return Status(
        tuple(row["number"] for row in rows),
        code.known,
        [row["fingerprint"] for row in laid if row["current"]] == [code.fingerprint],
        frozenset(
            row["number"]
            for row in rows
            if row["number"] not in code.known and MigrationKind(row["contracts"], row["after"]).is_borne_by(newest)
        ),
        any(row["current"] and _parts(row["version"]) > _parts(code.version) for row in laid),
        any(row["fingerprint"] == code.fingerprint for row in laid),
        next((row["version"] for row in laid if row["current"]), ""),
        tuple(
            f"{row['number']:04}_{row['name']}"
            for row in rows
            if code.contents.get(row["number"], (row["name"], row["content"])) != (row["name"], row["content"])
        ),
    )


def _parts(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


async def upgrade(db: Transactions) -> list[int]:
    """Applies what is missing, all or nothing, and says which migrations those were.

    Does nothing to a database that a newer crowdd has upgraded and that this one can serve.

    Raises SchemaError when the database is newer than this code can serve, its user may not make tables there, or
    servers run that could not use it afterwards.
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
    await tx.fetch("SELECT pg_advisory_xact_lock(%(lock)s)", {"lock": nodes.UPGRADE_LOCK})
    await tx.execute(_APPLIED)
    code = Code.read()
    now = await status(tx, code)
    now.require_known()
    if now.later:
        now.require()
        return []
    missing = [number for number in now.known if number not in now.applied]
    if missing or not now.definitions_current:
        # First: a column that a view names could neither be dropped nor change its type.
        await tx.execute("DROP SCHEMA IF EXISTS code CASCADE")
        kinds = {number: await _apply(tx, migrations()[number]) for number in missing}
        await _define(tx, code, definitions())
        await _require_borne(tx, kinds)
    return missing


_APPLIED = """
CREATE TABLE IF NOT EXISTS public.migration (
    number int PRIMARY KEY,
    name text NOT NULL,
    content text NOT NULL DEFAULT '',
    at timestamptz NOT NULL DEFAULT now(),
    contracts boolean NOT NULL DEFAULT true,
    after int
);
CREATE TABLE IF NOT EXISTS public.definition (
    fingerprint text NOT NULL,
    version text NOT NULL DEFAULT '',
    current boolean NOT NULL DEFAULT true,
    at timestamptz NOT NULL DEFAULT now(),
    relies_on text[]
);
"""


async def _apply(tx: Database, migration: Migration) -> MigrationKind:
    # A table with changes that a trigger has still to see at the commit cannot be altered.
    await tx.execute("SET LOCAL search_path = public; SET CONSTRAINTS ALL IMMEDIATE")
    await _run(tx, migration.sql, f"Migration {migration}")
    kind = kind_of(migration.sql)
    await tx.execute(
        "INSERT INTO public.migration (number, name, content, contracts, after)"
        " VALUES (%(number)s, %(name)s, %(content)s, %(contracts)s, %(after)s)",
        {"number": migration.number, "name": migration.name, "content": migration.content, **attrs.asdict(kind)},
    )
    return kind


async def _run(tx: Database, sql: str, what: str) -> None:
    """Runs a part of the upgrade. Raises SchemaError in a sentence, InsufficientPrivilege."""
    try:
        await tx.execute(sql)
    except InsufficientPrivilege:
        raise
    except psycopg2.Error as error:
        raise SchemaError(f"{what} failed: {first_line(error)}. The database is as it was before.") from error


async def _define(tx: Database, code: Code, sql: str) -> None:
    await tx.execute("CREATE SCHEMA code; SET LOCAL search_path = code, public")
    await tx.execute("SET LOCAL check_function_bodies = off")
    await _run(tx, sql, "The definition of functions")
    ways = await list_offered_code(tx)
    await tx.execute(
        "DELETE FROM public.definition WHERE relies_on IS NULL OR NOT relies_on <@ %(ways)s::text[] OR fingerprint = %(print)s",
        {"ways": ways, "print": code.fingerprint},
    )
    await tx.execute(
        "DELETE FROM public.definition WHERE fingerprint NOT IN"
        " (SELECT fingerprint FROM public.definition ORDER BY at DESC LIMIT %(max)s)",
        {"max": MAX_EARLIER},
    )
    await tx.execute("UPDATE public.definition SET current = false WHERE current")
    await tx.execute(
        "INSERT INTO public.definition (fingerprint, version, relies_on, at)"
        " VALUES (%(print)s, %(version)s, %(uses)s::text[], clock_timestamp())",
        {
            "print": code.fingerprint,
            "version": code.version,
            "uses": select_used_code(ways, words_of_statements(STATEMENTS)),
        },
    )


async def _require_borne(tx: Database, applied: dict[int, MigrationKind]) -> None:
    """Raises SchemaError when servers run that cannot use the database as it is now, in this transaction."""
    rows = await tx.fetch("SELECT fingerprint FROM public.definition")
    fingerprints = {row["fingerprint"] for row in rows}
    processes = await nodes.running(tx)
    refused = [process for process in processes if not _bears(process, applied.values(), fingerprints)]
    if refused:
        raise SchemaError(_refusal(refused), hint=_advice(refused, applied))


def _bears(process: RunningProcess, kinds: Collection[MigrationKind], definitions: Collection[str]) -> bool:
    return process.fingerprint in definitions and all(kind.is_borne_by(process.newest_migration) for kind in kinds)


def _refusal(refused: Sequence[RunningProcess]) -> str:
    named = [f"{each.name} ({each.version}, migration {each.newest_migration:04})" for each in refused]
    return f"The upgrade takes away what running servers use: {', '.join(named)}. Nothing was changed."


def _advice(refused: Sequence[RunningProcess], applied: dict[int, MigrationKind]) -> str:
    after = [kind.after for kind in applied.values() if kind.contracts]
    first = max((number for number in after if number is not None), default=0)
    if None not in after and any(process.newest_migration < first for process in refused):
        return (
            f"Upgrade them to a version that knows migration {first:04} first, one after the other. Then run the"
            " command again. To list the servers: crowdctl nodes"
        )
    return "Stop them, run the command again, and start them with the new version. To list the servers: crowdctl nodes"
