"""A streaming replica of the PostgreSQL of the tests."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import attrs
import psycopg2
from psycopg2.extensions import make_dsn, parse_dsn

from crowdd.embedded.binaries import find_all, pick
from crowdd.embedded.home import PORT, find_home
from crowdd.embedded.process import wait_until
from support.servers.postgres import Postgres, scratch_folder


@attrs.frozen
class Standby:
    """``dsn`` names no database; the role is the one of crowdd."""

    dsn: str
    running: subprocess.Popen[bytes]

    def of(self, dsn: str) -> str:
        """The replica of a database of the primary."""
        return str(make_dsn(self.dsn, dbname=parse_dsn(dsn)["dbname"]))

    def run(self, statement: str) -> Any:
        """The first value of a statement, as the superuser."""
        with contextlib.closing(psycopg2.connect(make_dsn(self.dsn, user="postgres", dbname="postgres"))) as connected:
            connected.autocommit = True
            with connected.cursor() as cursor:
                cursor.execute(statement)
                return cursor.fetchone()[0] if cursor.description else None

    def follow(self, postgres: Postgres) -> None:
        """Waits until it has all that was written by now."""
        ((position,),) = postgres.fetch("SELECT pg_current_wal_insert_lsn()::text")

        def followed() -> bool:
            with contextlib.suppress(psycopg2.OperationalError):
                return bool(self.run(f"SELECT pg_last_wal_replay_lsn() >= '{position}'"))
            return False

        assert wait_until(followed, 60)


@contextlib.contextmanager
def standby_of(postgres: Postgres) -> Iterator[Standby]:
    """Copies the server and follows it; gone at the end."""
    folder = scratch_folder("crowdd-standby-")
    home = find_home(folder)
    home.account.own(home.cluster)
    binaries = pick(find_all(), home.cluster, 0)
    source = make_dsn(postgres.dsn, user="postgres", dbname="postgres")
    command = [binaries.tool("pg_basebackup"), "-D", home.cluster, "-R", "-X", "stream", "-c", "fast", "-d", source]
    subprocess.run(command, check=True, capture_output=True, **home.account.spawning())
    running = subprocess.Popen(
        [binaries.tool("postgres"), "-D", home.cluster, "-c", f"unix_socket_directories={home.socket}", "-c", f"port={PORT}", "-c", "listen_addresses="],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **home.account.spawning(),
    )  # fmt: skip
    try:
        yield Standby(str(make_dsn(host=str(home.socket), port=PORT, user="crowdd")), running)
    finally:
        running.terminate()
        running.wait(60)
        shutil.rmtree(folder, ignore_errors=True)
