"""A database as a stream of bytes, and back: pg_dump of one snapshot, pg_restore in one transaction."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import IO, Any

import attrs
import psycopg2
from psycopg2.extensions import ISOLATION_LEVEL_REPEATABLE_READ, connection, make_dsn, parse_dsn

from crowdd.database.embedded.binaries import Tools
from crowdd.database.embedded.cluster import ended_with_parent
from crowdd.kernel.errors import CrowddError, UnavailableError
from crowdd.sched.rows import ServerKey

CHUNK = 1 << 20
CONNECT_SECONDS = 10
_KEPT_BACKUPS = 50
_PATIENT = "-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c lock_timeout=0"
# Read before the snapshot is taken: what was committed by then is in it.
_NOW = """
SELECT CASE WHEN pg_is_in_recovery() THEN coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time()) ELSE clock_timestamp() END
"""
_TABLES = """
SELECT tablename, relpersistence = 'u' AND pg_is_in_recovery()
  FROM pg_tables JOIN pg_class ON pg_class.oid = format('%I.%I', schemaname, tablename)::regclass
 WHERE schemaname = 'public' ORDER BY 1
"""
_NAMED_FILES = """
SELECT media_file FROM blogpost WHERE media_file IS NOT NULL UNION ALL
SELECT media_file FROM helpingmaterial WHERE media_file IS NOT NULL UNION ALL
SELECT media_file FROM announcement WHERE media_file IS NOT NULL UNION ALL
SELECT avatar_file FROM account WHERE avatar_file IS NOT NULL
"""


class DumpError(CrowddError):
    """pg_dump or pg_restore failed; the text has its own words."""

    code = "dump"


@attrs.frozen
class Shape:
    """What a database holds: the numbers of its migrations, and the rows of each table in ``public``."""

    migrations: tuple[int, ...]
    rows: dict[str, int]


class Snapshot:
    """The database as it was at one moment, for as long as the block lasts; other sessions go on meanwhile."""

    def __init__(self, connected: connection, at: datetime) -> None:
        self._connected, self.at = connected, at
        self.server_version: int = connected.server_version
        ((self.name,),) = self._rows("SELECT pg_export_snapshot()")

    def only_server(self, dsn: str) -> str:
        """The DSN with that one of its hosts that the snapshot was made on: no other server knows it."""
        info = self._connected.info
        words = {name: value for name, value in parse_dsn(dsn).items() if name != "hostaddr"}
        return make_dsn(**{**words, "host": info.host, "port": info.port})

    def shape(self) -> Shape:
        """Its migrations and rows."""
        return shape(self._connected)

    def named_files(self) -> Iterator[str]:
        """Paths below the folder of uploads that rows name."""
        with self._connected.cursor("named_files") as cursor:
            cursor.execute(_NAMED_FILES)
            for (path,) in cursor:
                yield path

    def foreign_schemas(self) -> list[str]:
        """Schemas that are neither ours nor PostgreSQL's."""
        rows = self._rows(
            "SELECT nspname FROM pg_namespace WHERE nspname NOT IN ('public', 'code', 'information_schema')"
            " AND nspname !~ '^pg_' ORDER BY 1"
        )
        return [name for (name,) in rows]

    def server_keys(self) -> list[ServerKey]:
        """The keys that the database was used with, as ``statements.list_server_keys`` gives them."""
        return server_keys_of(self._connected)

    def _rows(self, statement: str) -> list[Any]:
        return _rows(self._connected, statement)


@contextlib.contextmanager
def connected(dsn: str) -> Iterator[connection]:
    """A connection whose statements may take their time. Raises UnavailableError."""
    try:
        made = psycopg2.connect(dsn, connect_timeout=CONNECT_SECONDS, options=_PATIENT)
    except psycopg2.OperationalError as error:
        raise UnavailableError(f"Could not connect to the database: {' '.join(str(error).split())}") from None
    with contextlib.closing(made):
        yield made


@contextlib.contextmanager
def snapshot(dsn: str) -> Iterator[Snapshot]:
    """The database as it is now; a standby as of the last transaction of the primary that it has. Raises UnavailableError."""
    with connected(dsn) as made:
        ((at,),) = _rows(made, _NOW)
        made.rollback()
        made.set_session(isolation_level=ISOLATION_LEVEL_REPEATABLE_READ, readonly=True)
        yield Snapshot(made, at)


def shape(made: connection) -> Shape:
    """What the database of a connection holds; no migrations and no rows when it is empty.

    A standby has no rows of unlogged tables, and pg_dump finds none there.
    """
    count = 'SELECT count(*) FROM public."{}"'
    tables = _rows(made, _TABLES)
    rows = {name: 0 if closed else int(_rows(made, count.format(name))[0][0]) for name, closed in tables}
    numbers = _rows(made, "SELECT number FROM public.migration ORDER BY 1") if "migration" in rows else []
    return Shape(tuple(number for (number,) in numbers), rows)


def is_empty(made: connection) -> bool:
    """Whether nothing of anybody's is in the database."""
    ((tables, schemas),) = _rows(
        made,
        "SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace),"
        " (SELECT count(*) FROM pg_namespace WHERE nspname = 'code')",
    )
    return tables == 0 and schemas == 0


def server_keys_of(made: connection) -> list[ServerKey]:
    """The keys that the database was used with, in the order of the file: ``fingerprint`` and ``id``."""
    rows = _rows(made, "SELECT fingerprint, id FROM public.server_key ORDER BY line DESC")
    return [{"fingerprint": bytes(fingerprint), "id": bytes(id_)} for fingerprint, id_ in rows]


def note_backup(dsn: str, at: datetime, size: int) -> None:
    """Record a backup that was made, for ``crowdctl doctor``."""
    with connected(dsn) as made, made, made.cursor() as cursor:
        cursor.execute(
            "INSERT INTO public.backup (snapshot_at, finished, bytes) VALUES (%s, clock_timestamp(), %s)", (at, size)
        )
        cursor.execute(
            "DELETE FROM public.backup WHERE id NOT IN (SELECT id FROM public.backup ORDER BY id DESC LIMIT %s)",
            (_KEPT_BACKUPS,),
        )


def dumped(tools: Tools, dsn: str, seen: Snapshot) -> Iterator[bytes]:
    """The snapshot in pg_dump's custom format, in pieces. Raises DumpError."""
    left_out = [f"--exclude-schema={name}" for name in seen.foreign_schemas()]
    command = [tools.program("pg_dump"), "--format=custom", f"--snapshot={seen.name}", *left_out]
    command += _target(seen.only_server(dsn))
    with _running(command, dsn, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while piece := process.stdout.read(CHUNK):
            yield piece


def restore(tools: Tools, dsn: str, pieces: Iterable[bytes]) -> None:
    """Fill an empty database from a dump, all or nothing. Raises DumpError."""
    wanted = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"]
    with _running([tools.program("pg_restore"), *wanted, *_target(dsn)], dsn, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        # It says itself what is wrong, at its end.
        with contextlib.suppress(BrokenPipeError):
            for piece in pieces:
                process.stdin.write(piece)
            process.stdin.close()


@contextlib.contextmanager
def _running(command: list[str], dsn: str, **streams: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A program that has to end well; it is killed when the block is left by an error."""
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(  # noqa: S603
            command, env=_environment(dsn), stderr=complaints, start_new_session=True,
            preexec_fn=ended_with_parent(signal.SIGKILL), **{"stdin": subprocess.DEVNULL, **streams},  # noqa: PLW1509
        )  # fmt: skip
        try:
            yield process
            status = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
        if status:
            raise DumpError(f"{os.path.basename(command[0])} failed: {_said(complaints)}")


def _said(complaints: IO[bytes]) -> str:
    complaints.seek(0)
    lines = complaints.read(100_000).decode("utf-8", "replace").splitlines()
    errors = [line for line in lines if "error:" in line] or lines
    return errors[0].partition("error: ")[2] or errors[0] if errors else "it said nothing."


def _target(dsn: str) -> list[str]:
    """The database for the command line, which everybody on the machine can read: without the password."""
    words = {"connect_timeout": str(CONNECT_SECONDS), **parse_dsn(dsn)}
    return [f"--dbname={make_dsn(**{name: value for name, value in words.items() if name != 'password'})}"]


def _environment(dsn: str) -> dict[str, str]:
    password = parse_dsn(dsn).get("password")
    inherited = {
        name: text for name, text in os.environ.items() if name not in ("LANGUAGE", "LC_ALL", "LD_LIBRARY_PATH")
    }
    return {**inherited, "LC_ALL": "C.UTF-8", "PGOPTIONS": _PATIENT, **({"PGPASSWORD": password} if password else {})}


def _rows(made: connection, statement: str) -> list[Any]:
    with made.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())
