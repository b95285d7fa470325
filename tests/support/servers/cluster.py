"""A PostgreSQL server that tests may stop, start, copy and demote as they like."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
from pathlib import Path

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

    def follow(self, primary: Cluster) -> None:
        """Makes the data directory as a standby of another server."""
        if os.getuid() == 0:
            shutil.chown(self._directory, self._user)
        self._run(
            "pg_basebackup", "--write-recovery-conf", "--checkpoint=fast", "--no-sync", f"--dbname={primary.dsn()}"
        )
        with (self._directory / "data/postgresql.conf").open("a") as settings:
            settings.write(f"unix_socket_directories = '{self._directory}'\n")

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
