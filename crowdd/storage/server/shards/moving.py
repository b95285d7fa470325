"""The statements of a move of a project from one database to another. They wait: a command calls them, no server."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from threading import Thread
from typing import Any, Final

import attrs
import psycopg2
from psycopg2.errors import LockNotAvailable
from psycopg2.extensions import ISOLATION_LEVEL_REPEATABLE_READ, connection

from crowdd.errors import ConfigError, UnavailableError
from crowdd.storage.connections.connection import first_line
from crowdd.storage.server.shards.tables import CARD, GUARDED, KINDS_FOLLOWED, MOVED

_SETUP: Final = (
    "SET search_path = public, code; SET timezone = 'UTC'; SET statement_timeout = 0; SET lock_timeout = '2s';"
    " SET jit = off; SET plan_cache_mode = force_generic_plan"
)
_ATTEMPTS: Final = 30  # to have a table for a moment, of at most two seconds each
_FOLDS: Final = 100_000


class Session:
    """A connection to one of the databases. Statements wait for PostgreSQL."""

    def __init__(self, dsn: str) -> None:
        try:
            self._connected: connection = psycopg2.connect(dsn)
        except psycopg2.OperationalError as error:
            raise UnavailableError(f"A database cannot be reached: {first_line(error)}") from None
        self._connected.autocommit = True
        self.run(_SETUP)

    def close(self) -> None:
        """Ends it, and with it what it had begun."""
        self._connected.close()

    def run(self, sql: str, values: Mapping[str, object] | None = None) -> int:
        """How many rows a statement changed."""
        with self._connected.cursor() as cursor:
            cursor.execute(sql, values)
            return int(cursor.rowcount)

    def rows(self, sql: str, values: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
        """The rows of a statement."""
        with self._connected.cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchall()

    def value(self, sql: str, values: Mapping[str, object] | None = None) -> Any:
        """The first column of the only row; None without one."""
        rows = self.rows(sql, values)
        return rows[0][0] if rows else None

    @contextlib.contextmanager
    def transaction(self, *, one_snapshot: bool = False) -> Iterator[None]:
        """Commits at the end of the block, or undoes all of it. ``one_snapshot``: each statement sees the same rows."""
        self._connected.autocommit = False
        if one_snapshot:
            self._connected.set_session(isolation_level=ISOLATION_LEVEL_REPEATABLE_READ)
        try:
            with self._connected:
                yield
        finally:
            if not self._connected.closed:
                self._connected.set_session(isolation_level="DEFAULT", autocommit=True)

    def work_unseen(self) -> None:
        """From now on no trigger and no foreign key notices what this session changes. Raises ConfigError."""
        try:
            self.run("SET session_replication_role = replica")
        except psycopg2.errors.InsufficientPrivilege as error:
            role = self.value("SELECT current_user")
            hint = f"As a superuser of that PostgreSQL: GRANT SET ON PARAMETER session_replication_role TO {role};"
            raise ConfigError("The role of a database may not move projects.", hint=hint) from error

    def copy_from(self, source: Session, table: str, columns: str, rows: str, project_id: int) -> None:
        """Copies rows of a table from another database in PostgreSQL's binary format."""
        end, begin = os.pipe()
        failures: list[Exception] = []

        def send() -> None:
            with os.fdopen(begin, "wb") as file, source._connected.cursor() as cursor:
                try:
                    query = cursor.mogrify(f"SELECT {columns} FROM {table} WHERE {rows}", {"id": project_id}).decode()
                    cursor.copy_expert(f"COPY ({query}) TO STDOUT (FORMAT binary)", file)
                except Exception as error:  # it is raised below, where somebody waits for it
                    failures.append(error)

        sender = Thread(target=send, name="copy", daemon=True)
        sender.start()
        try:
            with os.fdopen(end, "rb") as file, self._connected.cursor() as cursor:
                cursor.copy_expert(f"COPY {table} ({columns}) FROM STDIN (FORMAT binary)", file)
        finally:
            sender.join()
        if failures:
            raise failures[0]


@attrs.frozen
class Underway:
    """A move that was begun. ``switched``: the project lives at the target."""

    source: int
    target: int
    switched: bool


@attrs.frozen
class Sum:
    """What a table has of a project: rows, and a sum of their hashes."""

    rows: int
    hash: int


def shape(session: Session) -> tuple[object, ...]:
    """What two databases must have in common, so that rows of one fit the other."""
    migrations = session.value("SELECT array_agg(number ORDER BY number) FROM migration")
    return tuple(migrations), session.value("SELECT fingerprint FROM definition WHERE current")


def hold(home: Session, project_id: int) -> bool:
    """Whether this session is now the only one that moves the project."""
    return bool(home.value("SELECT pg_try_advisory_lock(hashtextextended('move', %(id)s))", {"id": project_id}))


def underway(home: Session, project_id: int) -> Underway | None:
    """The move that was begun, and has not ended."""
    rows = home.rows("SELECT source, target, switched FROM project_move WHERE project_id = %(id)s", {"id": project_id})
    return Underway(*rows[0]) if rows else None


def place(home: Session, project_id: int) -> int:
    """Where the project lives; 0: at home."""
    return int(home.value("SELECT shard FROM project_place WHERE project_id = %(id)s", {"id": project_id}) or 0)


def begin(home: Session, project_id: int, source: int, target: int) -> None:
    """Notes that the project is moved from now on."""
    home.run(
        "INSERT INTO project_move (project_id, source, target, began) VALUES (%(id)s, %(source)s, %(target)s, clock())",
        {"id": project_id, "source": source, "target": target},
    )


def switch(home: Session, project_id: int, target: int) -> None:
    """In a transaction: from now on the project lives at the target."""
    values = {"id": project_id, "target": target}
    home.run("DELETE FROM project_place WHERE project_id = %(id)s", values)
    if target:
        home.run("INSERT INTO project_place (project_id, shard) VALUES (%(id)s, %(target)s)", values)
    home.run("UPDATE project_move SET switched = true WHERE project_id = %(id)s", values)


def end(home: Session, project_id: int) -> None:
    """Forgets the move."""
    home.run("DELETE FROM project_move WHERE project_id = %(id)s", {"id": project_id})


def project_of(home: Session, words: str) -> int | None:
    """The project with this short name or id."""
    sql = "SELECT id FROM project WHERE short_name = %(words)s OR id::text = %(words)s ORDER BY short_name = %(words)s DESC"
    rows = home.rows(sql, {"words": words})
    return int(rows[0][0]) if rows else None


def numbers(home: Session) -> dict[str, int]:
    """The numbers of shards by name."""
    return {str(name): int(number) for name, number in home.rows("SELECT name, number FROM shard")}


def obstacle(source: Session, project_id: int) -> str:
    """A sentence that says why the project cannot be moved now; "" when it can."""
    return str(source.value(_OBSTACLE, {"id": project_id}) or "")


_OBSTACLE: Final = """
SELECT CASE
  WHEN p.id IS NULL THEN 'The project does not exist.'
  WHEN p.published THEN 'The project is published. Pause it first.'
  WHEN EXISTS (SELECT FROM queue_item WHERE project_id = p.id AND state IN ('waiting', 'running')) THEN
       'Background tasks of the project wait or run. Wait until they have ended: crowdctl queue list'
  WHEN EXISTS (SELECT FROM task_import WHERE project_id = p.id AND ended IS NULL) THEN
       'An uploaded task file waits for its review. Finish or remove it first.'
  WHEN EXISTS (SELECT FROM media_batch WHERE project_id = p.id AND closed IS NULL) THEN
       'A batch of media files is open. Finish it first.'
  END FROM (SELECT 1) one LEFT JOIN project p ON p.id = %(id)s"""


def guard(source: Session, project_id: int) -> None:
    """From now on nobody changes rows of the project, and all changes that were under way are committed or undone.

    To make a trigger, PostgreSQL waits until no transaction has changed the table and is not over.
    """
    for table in GUARDED:
        own = "id" if table == "project" else "project_id"
        for event, row in (("INSERT OR UPDATE", "NEW"), ("DELETE", "OLD")):
            _patiently(
                source,
                f"CREATE OR REPLACE TRIGGER {_trigger(project_id, row)} BEFORE {event} ON {table} FOR EACH ROW"
                f" WHEN ({row}.{own} = {project_id:d}) EXECUTE FUNCTION refuse_while_moving()",
            )


def release(source: Session, project_id: int) -> None:
    """Ends what ``guard`` began.

    The lock comes first: to drop a trigger, PostgreSQL would begin with a weaker one, and two moves would wait for each
    other.
    """
    for table in GUARDED:
        dropped = [f"DROP TRIGGER IF EXISTS {_trigger(project_id, row)} ON {table}" for row in ("NEW", "OLD")]
        _patiently(source, "; ".join([f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE", *dropped]))


def _trigger(project_id: int, row: str) -> str:
    return f"moving_{row.lower()}_{project_id:d}"


def _patiently(session: Session, sql: str) -> None:
    for attempt in range(_ATTEMPTS):
        try:
            session.run(sql)
        except LockNotAvailable:
            if attempt + 1 == _ATTEMPTS:
                raise UnavailableError("Other transactions keep a table for longer than a minute.") from None
        else:
            return


def settle(source: Session, project_id: int) -> None:
    """Folds the counters of the project and numbers its events, so that nothing of it waits. Call it under ``guard``."""
    values = {"id": project_id}
    source.run("SELECT number_events(%(id)s, clock())", values)
    for _ in range(_FOLDS):
        if not source.value("SELECT EXISTS (SELECT FROM stat_delta WHERE project_id = %(id)s)", values):
            return
        source.run("SELECT fold_stats(clock())")
    raise UnavailableError("The counters of the project are not folded yet.")


def sums(session: Session, project_id: int) -> dict[str, Sum]:
    """What each table has of the project. Both databases write a row in the same words."""
    table_sums = {}
    for table, rows in MOVED.items():
        sql = (
            f"SELECT count(*), coalesce(sum(hashtextextended(ROW({columns(session, table)})::text, 0)::numeric), 0)::text"
            f" FROM {table} WHERE {rows}"
        )
        ((count, total),) = session.rows(sql, {"id": project_id})
        table_sums[table] = Sum(int(count), int(total))
    return table_sums


def columns(session: Session, table: str) -> str:
    """The columns of a table that are stored as they are given, in the order of their names."""
    column_list = session.value(
        "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attname) FROM pg_attribute"
        " WHERE attrelid = %(table)s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''",
        {"table": f"public.{table}"},
    )
    return str(column_list)


def too_late(source: Session, target: Session, project_id: int) -> bool:
    """Whether the project has rows with ids that the target will give to others, or that do not come before its own."""
    identity_columns = target.rows(
        "SELECT relname, attname, pg_get_serial_sequence(relname, attname) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
        " WHERE relnamespace = 'public'::regnamespace AND attidentity <> '' AND relname <> 'project' AND relname = ANY (%(names)s)",
        {"names": [*MOVED]},
    )
    for table, column, sequence in identity_columns:
        last = source.value(f"SELECT max({column}) FROM {table} WHERE {MOVED[table]}", {"id": project_id})
        if last is not None and last > target.value(f"SELECT last_value FROM {sequence}"):
            return True
    return False


def lacks_accounts(source: Session, target: Session) -> bool:
    """Whether people who use the source have not arrived at the target."""
    newest = "SELECT coalesce(max(id), 0) FROM account"
    return bool(target.value(newest) < source.value(newest))


def copy(source: Session, target: Session, project_id: int) -> dict[str, Sum]:
    """In a transaction on each: copies the project, and returns what each table of the source has.

    What an earlier attempt left goes first.
    """
    leave(target, project_id, home=False)
    for table, rows in MOVED.items():
        target.copy_from(source, table, columns(source, table), rows, project_id)
    return sums(source, project_id)


def adapt(target: Session, project_id: int, source_base: int) -> None:
    """In the transaction of the copy: what counts transactions begins again there, after all that was counted before.

    Cursors of programs that follow changes go on if positions of the target come after those of the source. Otherwise
    they begin new copies.
    """
    values = {"id": project_id, "kinds": [*KINDS_FOLLOWED]}
    target.run("SELECT repair_positions(%(id)s, clock())", values)
    target.run("UPDATE agreement_due SET xact = 0 WHERE project_id = %(id)s", values)
    if int(target.value("SELECT change_base FROM cluster")) <= source_base:
        target.run("UPDATE task_ledger SET changed_xid = change_stamp() WHERE project_id = %(id)s", values)
        target.run("UPDATE task_run SET changed_xid = change_stamp() WHERE project_id = %(id)s", values)
        target.run(
            "UPDATE result SET changed_xid = change_stamp(), completed_xid = least(completed_xid, change_stamp())"
            " WHERE project_id = %(id)s",
            values,
        )
        target.run("DELETE FROM tombstone WHERE project_id = %(id)s", values)
        target.run("DELETE FROM change_feed WHERE project_id = %(id)s", values)
        target.run("SELECT raise_epoch(%(id)s, kind) FROM unnest(%(kinds)s::text[]) kind", values)
    _add_to_scores(target, project_id, 1)
    target.run("UPDATE exposure SET version = version + 1")


def change_base(session: Session) -> int:
    """What is added to numbers of transactions in positions of changes."""
    return int(session.value("SELECT change_base FROM cluster") or 0)


def remove(session: Session, project_id: int, keep: Sequence[str]) -> None:
    """In a transaction: deletes the rows of the project, except in some tables."""
    for table, rows in reversed([*MOVED.items()]):
        if table not in keep:
            session.run(f"DELETE FROM {table} WHERE {rows}", {"id": project_id})
    session.run("DELETE FROM position WHERE project_id = %(id)s", {"id": project_id})


def leave(source: Session, project_id: int, *, home: bool) -> None:
    """In a transaction: what is left at the source goes; home keeps the project's card."""
    _add_to_scores(source, project_id, -1)
    remove(source, project_id, CARD if home else ())
    source.run("DELETE FROM told_project WHERE project_id = %(id)s", {"id": project_id})
    source.run("UPDATE exposure SET version = version + 1")


def _add_to_scores(session: Session, project_id: int, sign: int) -> None:
    session.run(
        "SELECT add_to_scores(p.id, ARRAY(SELECT DISTINCT user_id FROM task_run WHERE project_id = p.id AND user_id IS NOT NULL"
        " EXCEPT SELECT unnest(p.owners_ids)), %(sign)s) FROM project p WHERE p.id = %(id)s",
        {"id": project_id, "sign": sign},
    )
