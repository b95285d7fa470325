"""What a proof plays on: a PostgreSQL of its own (or a given one), a crowdd process, an owner with a project."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol, TypeVar

import attrs
import psycopg2
from psycopg2.extensions import make_dsn
from psycopg2.extras import RealDictCursor
from support.checks.invariants import invariants
from support.person import Person
from support.servers.live import BIN, LiveServer

from crowdd.database.embedded import PostgresServer, find_home, start

T = TypeVar("T")
SETTINGS = {"CROWDD_HTTP_TRUSTED_PROXIES": "127.0.0.1"}  # each client may then say which address it comes from
SHARED_FOLDERS = ("uploads", "media", "imports", "exports")  # as docs/operating/several-servers.md has it


class Postgres:
    """A throw-away PostgreSQL below a folder; it can be stopped and started again on the same address."""

    def __init__(self, place: Path) -> None:
        self._place = place
        # The kernel ends PostgreSQL together with the thread that started it: this one stays.
        self._thread = ThreadPoolExecutor(max_workers=1)
        self.start()

    @property
    def dsn(self) -> str:
        """Its database for crowdd."""
        return self._server.dsn

    @property
    def pid(self) -> int:
        """Its postmaster."""
        return self._server.process.pid

    def start(self) -> None:
        """Returns when it takes connections."""
        self._server: PostgresServer = self._thread.submit(lambda: start(find_home(self._place))).result()

    def stop(self) -> None:
        """As an operator does: sessions are ended, what is committed stays."""
        self._server.stop()

    def checkpoint(self) -> None:
        """Writes everything out, so that what was built is no burden to what is measured."""
        self._superuser("CHECKPOINT")

    def set(self, name: str, value: str) -> None:
        """Changes a setting that needs no restart."""
        self._superuser(f"ALTER SYSTEM SET {name} = {value}")
        self._superuser("SELECT pg_reload_conf()")

    def _superuser(self, statement: str) -> None:
        Sql(make_dsn(self.dsn, user="postgres")).rows(statement)

    def close(self) -> None:
        """Stops it for good."""
        self.stop()
        self._thread.shutdown()


class Sql:
    """Looks into the database beside crowdd; each statement is a transaction."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn

    def rows(self, statement: str, values: Any = None) -> list[dict[str, Any]]:
        """The rows of a statement."""
        with self.session() as asked:
            return asked(statement, values)

    @contextlib.contextmanager
    def session(self) -> Iterator[Callable[..., list[dict[str, Any]]]]:
        """A connection for many statements: to make one takes more than most statements do."""
        with contextlib.closing(psycopg2.connect(self.dsn, cursor_factory=RealDictCursor)) as connection:
            connection.autocommit = True

            def rows(statement: str, values: Any = None) -> list[dict[str, Any]]:
                with connection.cursor() as cursor:
                    cursor.execute(statement, values)
                    return [] if cursor.description is None else [dict(row) for row in cursor.fetchall()]

            rows("SET search_path = public, code")
            yield rows

    def broken_rules(self) -> list[str]:
        """Rules of the ledger and its counters that are broken, before and after the counters are folded."""
        self.rows("ANALYZE")
        with contextlib.closing(psycopg2.connect(self.dsn, options="-c search_path=public,code")) as connection:
            violations: list[str] = invariants(connection)
            connection.commit()
            with connection.cursor() as cursor:
                cursor.execute("SELECT fold_stats()")
            return violations + [rule for rule in invariants(connection) if rule not in violations]

    def one(self, statement: str, values: Any = None) -> Any:
        """The only value of the only row."""
        (row,) = self.rows(statement, values)
        (value,) = row.values()
        return value


async def until(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether something came true within the time; looks at it every few milliseconds, since nobody tells."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.005)
    return True


@attrs.frozen
class Project:
    """A published project with tasks, and its owner."""

    id: int
    short_name: str
    secret_key: str
    owner: Person


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A folder for everything that a proof leaves on the disk; it goes at the end."""
    made = Path(tempfile.mkdtemp(prefix="crowdd-bench-", dir="/tmp"))
    made.chmod(0o755)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextlib.contextmanager
def postgres(place: Path) -> Iterator[Postgres]:
    """A throw-away PostgreSQL with crowdd's tables."""
    made = Postgres(place)
    try:
        upgrade(made.dsn, place)
        yield made
    finally:
        made.close()


def upgrade(dsn: str, place: Path) -> None:
    """Brings a database to the version of this tree."""
    environment = {**os.environ, "CROWDD_DB_DSN": dsn, "CROWDD_DATA_DIR": str(place / "data")}
    subprocess.run([BIN / "crowdctl", "db", "upgrade"], env=environment, cwd=place, check=True, capture_output=True)


@contextlib.contextmanager
def crowdd(dsn: str, place: Path, **environment: str) -> Iterator[LiveServer]:
    """A crowdd process on a database; its secrets and log are in ``place``/data."""
    data = place / "data"
    data.mkdir(parents=True, exist_ok=True)
    if not (data / "secret.key").exists():  # always the same, for a database that was given may have been used before
        (data / "secret.key").write_text(f"{'b7' * 32}\n")
    made = LiveServer(dsn, data, **SETTINGS, **environment)
    try:
        made.start()
        yield made
    finally:
        made.stop()


def run(work: Coroutine[Any, Any, T]) -> T:
    """What the work returns; on a thread of its own, since the caller's may have a loop already (Playwright's)."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


class Front(Protocol):
    """What people reach: a server, or a proxy before several."""

    url: str


def project(server: Front, *, tasks: int, n_answers: int) -> Project:
    """A new project, published by a new person; its names are not used by an earlier run on the same database."""
    name = f"run{time.time_ns() // 1_000_000}"
    owner = Person(server.url).register(f"owner-{name}")
    body = {"name": name, "short_name": name, "description": "Is there a bird?"}
    made = owner.api("POST", "project", {**body, "info": {"task_presenter": "<p>?</p>"}})
    rows = [{"project_id": made["id"], "info": {"n": n}, "n_answers": n_answers} for n in range(tasks)]
    for first in range(0, tasks, 1000):
        owner.api("POST", "task", rows[first : first + 1000])
    owner.publish(name)
    return Project(made["id"], name, owner.api("GET", f"project/{made['id']}")["secret_key"], owner)


def log_of(server: LiveServer) -> str:
    """What the server has written so far."""
    return (server.data / "log").read_text(errors="replace")


def complaints(server: LiveServer) -> list[str]:
    """Lines of the log that no request, however rude, and no loss of the database may cause, and how tracebacks end."""
    lines = log_of(server).splitlines()
    return [
        " … ".join([line, *last_of_traceback(lines[number + 1 : number + 100])])
        for number, line in enumerate(lines)
        if "#critical" in line or "#error" in line or "Unhandled" in line
    ]


def last_of_traceback(lines: list[str]) -> list[str]:
    """The error that a traceback at the beginning of the lines names, with what PostgreSQL says about it."""
    indented = itertools.takewhile(lambda line: not line[:4].isdigit(), lines)
    named = [line.strip() for line in indented if line.strip() and "Traceback" not in line]
    return named[-6:]


def node_folder(place: Path, name: str) -> Path:
    """The data folder of one of several servers: its key and its files are those of all."""
    data = place / name
    data.mkdir()
    (data / "secret.key").write_text(f"{'b7' * 32}\n")
    for folder in SHARED_FOLDERS:
        (place / folder).mkdir(exist_ok=True)
        (data / folder).symlink_to(place / folder)
    return data
