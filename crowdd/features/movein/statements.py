"""SQL of a move-in: read the database of a PyBossa server, write rows that keep their ids, and keep the state.

The columns of PyBossa differ by version: a missing one is None in each row. Every read is of one moment, by one
transaction that changes nothing. Functions of SQL keep the ledger and the counters right (`transfer/45_move_in.sql`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final, TypedDict

import attrs
import psycopg2
from psycopg2.extensions import ISOLATION_LEVEL_REPEATABLE_READ
from psycopg2.extras import RealDictCursor
from psycopg2.sql import SQL, Composable, Identifier

from crowdd.database.access import Database, as_json, fetch_row, fetch_row_or_none, fetch_rows, one
from crowdd.kernel.errors import ConfigError, InvalidValueError, UnavailableError
from crowdd.kernel.values import Values

CONNECT_SECONDS: Final = 10
_OPTIONS: Final = (
    "-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c search_path=public"
    " -c default_transaction_read_only=on"
)

TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "category": ("id", "name", "short_name", "description", "created", "info"),
    "user": (
        "id", "created", "email_addr", "name", "fullname", "locale", "api_key", "passwd_hash", "admin", "pro",
        "privacy_mode", "restrict", "category", "flags", "google_user_id", "ckan_api", "newsletter_prompted",
        "valid_email", "confirmation_email_sent", "subscribed", "consent", "info",
    ),
    "project": (
        "id", "created", "updated", "name", "short_name", "description", "long_description", "webhook",
        "allow_anonymous_contributors", "published", "featured", "secret_key", "zip_download", "contacted", "owner_id",
        "owners_ids", "category_id", "info",
    ),
    "task": (
        "id", "created", "project_id", "state", "quorum", "calibration", "priority_0", "info", "n_answers",
        "fav_user_ids",
    ),
    "task_run": (
        "id", "created", "project_id", "task_id", "user_id", "user_ip", "finish_time", "calibration", "external_uid",
        "media_url", "info",
    ),
    "result": ("id", "created", "project_id", "task_id", "task_run_ids", "last_version", "info"),
    "blogpost": (
        "id", "created", "updated", "project_id", "user_id", "title", "body", "info", "media_url", "published",
    ),
    "helpingmaterial": ("id", "created", "project_id", "info", "media_url", "priority"),
    "announcement": ("id", "created", "updated", "user_id", "title", "body", "info", "media_url", "published"),
}  # fmt: skip
"""The columns that are read of each table."""
REQUIRED: Final = ("user", "project", "task", "task_run")
_AS_TEXT: Final = frozenset({"info", "created", "updated", "finish_time"})


class Pybossa:
    """An open database of PyBossa. Call it from one thread at a time."""

    def __init__(self, dsn: str) -> None:
        """Connect. Raises ConfigError for a DSN that cannot be right, UnavailableError without an answer."""
        try:
            self._connection = psycopg2.connect(
                dsn, connect_timeout=CONNECT_SECONDS, options=_OPTIONS, cursor_factory=RealDictCursor
            )
        except psycopg2.ProgrammingError as error:
            raise ConfigError(f"--dsn is not valid: {' '.join(str(error).split())}") from None
        except psycopg2.OperationalError as error:
            raise UnavailableError(f"Could not connect to PyBossa's database: {' '.join(str(error).split())}") from None
        self._connection.set_client_encoding("UTF8")
        self._connection.set_session(isolation_level=ISOLATION_LEVEL_REPEATABLE_READ, readonly=True)
        self._there = self._columns()
        if missing := [name for name in REQUIRED if name not in self._there]:
            self.close()
            raise InvalidValueError(f"This is not a database of PyBossa: it has no table {', '.join(missing)}.")

    def close(self) -> None:
        """End the transaction and the connection."""
        with suppress(psycopg2.Error):
            self._connection.close()

    def identity(self) -> str:
        """A text that names this database among all: that of the cluster, and its number there."""
        row = self._rows(
            "SELECT system_identifier || '/' || oid AS id FROM pg_control_system(), pg_database"
            " WHERE datname = current_database()"
        )[0]
        return str(row["id"])

    def has(self, table: str) -> bool:
        """Whether there is such a table."""
        return table in self._there

    def count(self, table: str) -> int:
        """The number of rows of a table, 0 without one."""
        return (
            int(self._rows(SQL("SELECT count(*) AS n FROM {}").format(Identifier(table)))[0]["n"])
            if self.has(table)
            else 0
        )

    def last_result(self) -> int:
        """The highest id of a result, 0 without one."""
        return int(self._rows("SELECT coalesce(max(id), 0) AS n FROM result")[0]["n"]) if self.has("result") else 0

    def unread(self) -> tuple[dict[str, int], dict[str, list[str]]]:
        """What is not read: tables with their rows, and columns of tables that are read."""
        tables = {name: self.count(name) for name in sorted(self._there) if name not in TABLES}
        columns = {name: sorted(self._there[name] - {*TABLES[name]}) for name in sorted(TABLES) if self.has(name)}
        return {name: n for name, n in tables.items() if n}, {
            name: column_names for name, column_names in columns.items() if column_names
        }

    def after(self, table: str, last: int, maximum: int) -> list[Values]:
        """The next rows after an id. JSON and times are texts."""
        if not self.has(table):
            return []
        sql = SQL("SELECT {} FROM {} WHERE id > %s ORDER BY id LIMIT %s").format(
            SQL(", ").join(self._column(table, name) for name in TABLES[table]), Identifier(table)
        )
        return self._rows(sql, (last, maximum))

    def placed_after(self, table: str, last: int, maximum: int) -> list[Values]:
        """The next tasks or answers after an id, with their projects and users alone."""
        sql = SQL("SELECT id, {}, {} FROM {} WHERE id > %s ORDER BY id LIMIT %s").format(
            *(self._column(table, name) for name in ("project_id", "user_id")), Identifier(table)
        )
        return self._rows(sql, (last, maximum))

    def completed_after(self, last: int, maximum: int) -> list[Values]:
        """The next tasks after an id that PyBossa takes for completed."""
        return self._rows(
            "SELECT id FROM task WHERE id > %s AND state = 'completed' ORDER BY id LIMIT %s", (last, maximum)
        )

    def published_after(self, last: int, maximum: int) -> list[Values]:
        """The next published projects after an id."""
        if "published" not in self._there["project"]:
            return []
        return self._rows("SELECT id FROM project WHERE id > %s AND published ORDER BY id LIMIT %s", (last, maximum))

    def figures(self) -> tuple[dict[int, tuple[int, int]], dict[int, int]]:
        """Tasks and answers by project, and answers by user."""
        projects = self._rows(
            "SELECT p.id, (SELECT count(*) FROM task t WHERE t.project_id = p.id) AS tasks,"
            " (SELECT count(*) FROM task_run r WHERE r.project_id = p.id) AS answers FROM project p ORDER BY 1"
        )
        users = self._rows(
            "SELECT user_id AS id, count(*) AS answers FROM task_run WHERE user_id IS NOT NULL GROUP BY 1 ORDER BY 1"
        )
        return {r["id"]: (r["tasks"], r["answers"]) for r in projects}, {r["id"]: r["answers"] for r in users}

    def _column(self, table: str, name: str) -> Composable:
        if name not in self._there[table]:
            return SQL("NULL AS {}").format(Identifier(name))
        return SQL("{0}::text AS {0}" if name in _AS_TEXT else "{0}").format(Identifier(name))

    def _columns(self) -> dict[str, set[str]]:
        columns_by_table: dict[str, set[str]] = {}
        for row in self._rows(
            "SELECT c.table_name AS name, c.column_name AS column FROM information_schema.columns c"
            " JOIN information_schema.tables t USING (table_schema, table_name)"
            " WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
        ):
            columns_by_table.setdefault(row["name"], set()).add(row["column"])
        return columns_by_table

    def _rows(self, sql: str | Composable, values: Sequence[object] = ()) -> list[Values]:
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(sql, values)
                return [dict(row) for row in cursor.fetchall()]
        except psycopg2.OperationalError as error:
            words = " ".join(str(error).split())
            raise UnavailableError(f"The connection to PyBossa's database was lost: {words}") from None
        except psycopg2.ProgrammingError as error:
            raise InvalidValueError(f"PyBossa's database refuses to be read: {str(error).splitlines()[0]}") from None


class Step(TypedDict):
    """How far a table is. ``remarks``: {sentence: {"rows", "refused", "first"}}."""

    name: str
    upto: int
    read: int
    added: int
    refused: int
    remarks: Values
    ended: bool


@attrs.frozen
class MoveIn:
    """The move-in of a site."""

    source: str
    began: datetime
    ended: datetime | None


@attrs.frozen
class Fate:
    """What became of a row: added, or why it was refused."""

    id: int
    fate: str


@attrs.frozen
class Found:
    """What is here that would be in the way."""

    accounts: int
    projects: int


@attrs.frozen
class ProjectFigure:
    """Tasks and answers of a project."""

    id: int
    tasks: int
    answers: int


@attrs.frozen
class UserFigure:
    """All answers of an account, and those that score."""

    id: int
    answers: int
    score: int


@attrs.frozen
class Completed:
    """The last task that was looked at, None at the end, and how many were completed."""

    last: int | None
    completed: int


@attrs.frozen
class NamedFile:
    """A file of a row: its key and its path below the folder of uploads."""

    id: int
    path: str


_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('move_in', 0))"
_IDENTITIES = (
    "account",
    "project",
    "category",
    "task",
    "task_run",
    "result",
    "blogpost",
    "helpingmaterial",
    "announcement",
)


async def lock_move_in(tx: Database) -> None:
    """Makes another move-in wait until the transaction ends."""
    await tx.fetch(_LOCK)


async def read_move_in(db: Database) -> MoveIn | None:
    """The move-in of this site, or None."""
    return await fetch_row_or_none(db, MoveIn, "SELECT source, began, ended FROM move_in")


async def count_obstacles(db: Database) -> Found:
    """What the site has already."""
    sql = "SELECT (SELECT count(*) FROM account)::int AS accounts, (SELECT count(*) FROM project)::int AS projects"
    return await fetch_row(db, Found, sql)


async def begin_move_in(tx: Database, source: str, *, categories: bool) -> None:
    """Begins; ``categories``: those of a new site make room for those of the source."""
    await tx.execute("INSERT INTO move_in (source, began) VALUES (%(source)s, clock())", {"source": source})
    if categories:
        await tx.execute("DELETE FROM category")


async def end_move_in(tx: Database) -> None:
    """Ends; ids of new rows come after those that moved in."""
    await number_on(tx)
    await tx.execute("UPDATE move_in SET ended = clock()")


async def number_on(tx: Database) -> None:
    """Has new rows get ids that come after all that are there."""
    for table in _IDENTITIES:
        await tx.fetch(
            f"SELECT setval(s, greatest((SELECT coalesce(max(id), 0) FROM {table}) + 1, nextval(s)), false)"
            f" FROM (SELECT pg_get_serial_sequence('{table}', 'id')::regclass AS s) x"
        )


async def reserve_result_ids(tx: Database, last_result: int) -> None:
    """Has results that are made here get ids that come after those of the source."""
    await tx.fetch(
        "SELECT setval(s, greatest(%(last)s::bigint + 1, nextval(s)), false)"
        " FROM (SELECT pg_get_serial_sequence('result', 'id')::regclass AS s) x",
        {"last": last_result},
    )


async def list_steps(db: Database) -> list[Step]:
    """How far each table is."""
    return await fetch_rows(db, Step, "SELECT name, upto, read, added, refused, remarks, ended FROM move_in_step")


async def analyze_tables(tx: Database) -> None:
    """Has the planner learn how large the tables have become."""
    await tx.execute("ANALYZE account, project, task, task_ledger, task_run, result")


async def save_step(tx: Database, step: Step) -> None:
    """Stores how far a table is."""
    await tx.execute(
        "INSERT INTO move_in_step AS s (name, upto, read, added, refused, remarks, ended)"
        " VALUES (%(name)s, %(upto)s, %(read)s, %(added)s, %(refused)s, %(remarks)s, %(ended)s)"
        " ON CONFLICT (name) DO UPDATE SET upto = excluded.upto, read = excluded.read, added = excluded.added,"
        " refused = excluded.refused, remarks = excluded.remarks, ended = excluded.ended",
        {**step, "remarks": as_json(step["remarks"])},
    )


async def count_existing_ids(db: Database, table: str, ids: list[int]) -> int:
    """How many of these ids a table of ours has."""
    sql = f"SELECT count(DISTINCT id) AS n FROM {table} WHERE id = ANY (%(ids)s)"
    return int((await one(db, sql, {"ids": ids}))["n"])


async def list_project_figures(db: Database) -> list[ProjectFigure]:
    """The figures of all projects, as pages show them."""
    sql = (
        "SELECT project_id AS id, n_tasks::bigint AS tasks, (runs_anonymous + runs_authenticated)::bigint AS answers"
        " FROM project_figures ORDER BY 1"
    )
    return await fetch_rows(db, ProjectFigure, sql)


async def list_user_figures(db: Database) -> list[UserFigure]:
    """Answers and scores of all accounts that answered."""
    sql = (
        "SELECT r.user_id AS id, r.n AS answers, coalesce(s.runs, 0)::bigint AS score"
        " FROM (SELECT user_id, count(*) AS n FROM task_run WHERE user_id IS NOT NULL GROUP BY 1) r"
        " LEFT JOIN score s ON s.user_id = r.user_id ORDER BY 1"
    )
    return await fetch_rows(db, UserFigure, sql)


_OWNER = "SELECT 'user_' || p.owner_id FROM project p WHERE p.id = t.project_id"
WITH_FILES: Final = {
    "account": ("avatar_file", "avatar", "'user_' || t.id"),
    "blogpost": ("media_file", "file_name", f"SELECT 'user_' || t.user_id UNION ALL {_OWNER}"),
    "helpingmaterial": ("media_file", "file_name", _OWNER),
    "announcement": ("media_file", "file_name", "'user_' || t.user_id"),
}
"""Tables whose rows have a file: its column, the key of ``info`` with its name, and the containers that it may be in."""


_NAMES: Final = {
    "account": ("name",),
    "category": ("name", "short_name"),
    "project": ("name", "short_name"),
}
"""Columns with names that are compared by their skeletons."""


async def insert_rows(tx: Database, table: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Adds rows with all their values, ``id`` too. A name that looks like an earlier one comes over as it is."""
    named = _NAMES.get(table, ())
    free = [
        f"CASE WHEN EXISTS (SELECT FROM {table} WHERE {name}_skeleton = skeleton(%({name})s)) THEN '' END"
        for name in named
    ]
    for row in rows:
        names = ", ".join([f'"{name}"' for name in row] + [f"{name}_skeleton" for name in named])
        marks = ", ".join([f"%({name})s" for name in row] + free)
        await tx.execute(f"INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE VALUES ({marks})", row)


async def find_taken_texts(tx: Database, table: str, column: str, texts: Sequence[str]) -> set[str]:
    """Which of these texts, all in lower case, another row has in upper or lower case."""
    sql = f"SELECT lower({column}) AS text FROM {table} WHERE lower({column}) = ANY (%(texts)s)"
    return {row["text"] for row in await tx.fetch(sql, {"texts": list(texts)})}


async def find_existing_ids(tx: Database, table: str, ids: Sequence[int]) -> set[int]:
    """Which of these ids a table has."""
    sql = f"SELECT id FROM {table} WHERE id = ANY (%(ids)s)"
    return {row["id"] for row in await tx.fetch(sql, {"ids": list(ids)})}


async def find_first_administrator(tx: Database) -> int | None:
    """The administrator with the lowest id, or None."""
    return (await one(tx, "SELECT min(id) AS id FROM account WHERE admin"))["id"]


async def find_first_category(tx: Database) -> int | None:
    """The category with the lowest id, or None."""
    return (await one(tx, "SELECT min(id) AS id FROM category"))["id"]


async def add_ledger(tx: Database, project_id: int, sched: str, *, trial: bool) -> None:
    """The ledger of a new project. One that is no draft is paused until all its rows are there."""
    await tx.execute(
        "INSERT INTO project_ledger (project_id, sched, trial, paused, draft_key, counted_per_network)"
        " SELECT id, %(sched)s, %(trial)s, NOT %(trial)s, draft_key, r.counted_per_network"
        " FROM project, volunteer_rule r WHERE id = %(id)s",
        {"id": project_id, "sched": sched, "trial": trial},
    )
    if trial:
        await tx.execute(
            "WITH draft AS (UPDATE project SET draft_key = new_draft_key() WHERE id = %(id)s RETURNING draft_key)"
            " UPDATE project_ledger l SET draft_key = d.draft_key FROM draft d WHERE l.project_id = %(id)s",
            {"id": project_id},
        )


async def set_project_times(tx: Database, project_id: int, updated: object) -> None:
    """Sets when a project was last changed."""
    await tx.execute("UPDATE project SET updated = %(at)s WHERE id = %(id)s", {"id": project_id, "at": updated})


async def add_tasks(tx: Database, rows: str) -> list[Fate]:
    """Adds tasks; ``rows`` is the JSON text of ``move_in_tasks``."""
    return await fetch_rows(tx, Fate, "SELECT id, fate FROM move_in_tasks(%(rows)s::jsonb, clock())", {"rows": rows})


async def add_answers(tx: Database, rows: str) -> list[Fate]:
    """Adds answers; ``rows`` is the JSON text of ``move_in_answers``."""
    return await fetch_rows(tx, Fate, "SELECT id, fate FROM move_in_answers(%(rows)s::jsonb, clock())", {"rows": rows})


async def add_results(tx: Database, rows: str) -> list[Fate]:
    """Adds results; ``rows`` is the JSON text of ``move_in_results``."""
    return await fetch_rows(tx, Fate, "SELECT id, fate FROM move_in_results(%(rows)s::jsonb)", {"rows": rows})


async def retire_tasks(tx: Database, ids: Sequence[int]) -> list[int]:
    """Retires those of completed tasks that lack answers, and returns them."""
    rows = await tx.fetch("SELECT move_in_states(%(ids)s, clock()) AS id", {"ids": list(ids)})
    return [row["id"] for row in rows]


async def complete_tasks(tx: Database, after: int, maximum: int) -> Completed:
    """Completes the next tasks after one that have their answers and no result."""
    sql = "SELECT last, completed FROM move_in_completions(%(after)s, %(maximum)s, clock())"
    return await fetch_row(tx, Completed, sql, {"after": after, "maximum": maximum})


async def publish_projects(tx: Database, ids: Sequence[int]) -> list[int]:
    """Opens those of these projects that are here, and returns them."""
    rows = await tx.fetch(
        "SELECT id FROM (SELECT id, publish(id, clock()) AS done FROM project WHERE id = ANY (%(ids)s)) p WHERE done",
        {"ids": list(ids)},
    )
    return [row["id"] for row in rows]


async def list_named_files(db: Database, table: str) -> list[NamedFile]:
    """Rows of a table of WITH_FILES whose ``info`` names a file of their own people, which they do not have yet.

    Somebody else's file must not go with a row.
    """
    column, key, people = WITH_FILES[table]
    sql = (
        f"SELECT id, info->>'container' || '/' || (info->>'{key}') AS path FROM {table} t"
        f" WHERE {column} IS NULL AND info->>'{key}' <> '' AND info->>'container' IN ({people}) ORDER BY id"
    )
    return await fetch_rows(db, NamedFile, sql)


async def set_row_file(tx: Database, table: str, row_id: int, path: str) -> None:
    """Gives a row of a table of WITH_FILES its file."""
    sql = f"UPDATE {table} SET {WITH_FILES[table][0]} = %(path)s WHERE id = %(id)s"
    await tx.execute(sql, {"id": row_id, "path": path})
