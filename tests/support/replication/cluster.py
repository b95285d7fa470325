"""A PostgreSQL server that tests may stop, start, copy and demote as they like."""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import psycopg2
from psycopg2.extensions import make_dsn, parse_dsn

from crowdd.database.embedded.cluster import wait_until
from support.servers.postgres import Postgres, scratch_folder

BINARIES = Path("/usr/lib/postgresql/15/bin")
SETTINGS = """
listen_addresses = ''
fsync = off
max_connections = 60
deadlock_timeout = 10ms
client_connection_check_interval = 10ms
"""
ACCESS = """
local replication all trust
local all guarded scram-sha-256
local all all trust
"""


class Cluster:
    """A throw-away server on a unix socket in ``directory``."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._user = "postgres" if os.getuid() == 0 else getpass.getuser()

    def dsn(self, *, dbname: str = "postgres", user: str = "postgres", password: str = "none") -> str:
        """How to reach it."""
        return f"host={self._directory} dbname={dbname} user={user} password={password}"

    def create(self) -> None:
        """Makes the data directory."""
        if os.getuid() == 0:
            shutil.chown(self._directory, self._user)
        self._run("initdb", "--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8")
        with (self._directory / "data/postgresql.conf").open("a") as settings:
            settings.write(f"{SETTINGS}unix_socket_directories = '{self._directory}'\n")
        (self._directory / "data/pg_hba.conf").write_text(ACCESS)

    def follow(self, dsn: str) -> None:
        """Makes the data directory as a standby of another server."""
        if os.getuid() == 0:
            shutil.chown(self._directory, self._user)
        self._run("pg_basebackup", "--write-recovery-conf", "--checkpoint=fast", "--no-sync", f"--dbname={dsn}")
        with (self._directory / "data/postgresql.conf").open("a") as settings:
            settings.write(f"unix_socket_directories = '{self._directory}'\nlisten_addresses = ''\n")

    def promote(self) -> None:
        """Returns when it takes changes."""
        self._run("pg_ctl", "promote", "--wait", "--silent")

    def demote(self) -> None:
        """As Patroni does: it stops, and starts as a standby."""
        self.stop("fast")
        (self._directory / "data/standby.signal").touch()
        self.start()

    def start(self) -> None:
        """Returns when it accepts connections."""
        self._run("pg_ctl", "start", "--wait", "--silent", f"--log={self._directory}/log")

    def stop(self, mode: str = "immediate") -> None:
        """Returns when it is gone."""
        self._run("pg_ctl", "stop", "--wait", "--silent", f"--mode={mode}")

    def _run(self, program: str, *arguments: str) -> None:
        become = ["runuser", "-u", self._user, "--"] if os.getuid() == 0 else []
        command = [*become, BINARIES / program, f"--pgdata={self._directory}/data", *arguments]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd="/", timeout=60)


@attrs.frozen
class Standby:
    """A streaming replica of the PostgreSQL of the tests."""

    cluster: Cluster

    def of(self, dsn: str) -> str:
        """The replica of a database of the primary."""
        return self.cluster.dsn(dbname=str(parse_dsn(dsn)["dbname"]), user="crowdd")

    def run(self, statement: str) -> Any:
        """The first value of a statement, as the superuser."""
        with contextlib.closing(psycopg2.connect(self.cluster.dsn())) as connected:
            connected.autocommit = True
            with connected.cursor() as cursor:
                cursor.execute(statement)
                return cursor.fetchone()[0] if cursor.description else None

    def cut_off(self) -> str:
        """Has it receive nothing any more, while it goes on answering. Returns where it received from."""
        before = str(self.run("SELECT current_setting('primary_conninfo')"))
        self.run("ALTER SYSTEM SET primary_conninfo = 'host=/nowhere/at/all'")
        self.run("SELECT pg_reload_conf()")
        gone = "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'walreceiver'"
        assert wait_until(lambda: bool(self.run(gone)), 60)
        return before

    def reconnect(self, source: str) -> None:
        """Has it receive again."""
        quoted = source.replace("'", "''")
        self.run(f"ALTER SYSTEM SET primary_conninfo = '{quoted}'")
        self.run("SELECT pg_reload_conf()")

    def catch_up(self, postgres: Postgres) -> None:
        """Waits until it has all that was written by now."""
        ((position,),) = postgres.fetch("SELECT pg_current_wal_insert_lsn()::text")
        assert wait_until(lambda: bool(self.run(f"SELECT pg_last_wal_replay_lsn() >= '{position}'")), 60)


@contextlib.contextmanager
def standby_of(postgres: Postgres) -> Iterator[Standby]:
    """Copies the server and follows it; gone at the end."""
    folder = scratch_folder("crowdd-standby-")
    cluster = Cluster(folder)
    cluster.follow(make_dsn(postgres.dsn, user="postgres", dbname="postgres"))
    cluster.start()
    try:
        yield Standby(cluster)
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)
