"""Reads the database of a PyBossa server. Its columns differ by version: a missing one is None in each row.

Every read is of one moment, by one transaction that changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import psycopg2
from psycopg2.extensions import ISOLATION_LEVEL_REPEATABLE_READ
from psycopg2.extras import RealDictCursor
from psycopg2.sql import SQL, Composable, Identifier

from crowdd.errors import ConfigError, InvalidValueError, UnavailableError
from crowdd.values import Values

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
