"""Backups on a schedule: a process of its own makes each, while the server goes on."""

from __future__ import annotations

import os
import tempfile
from typing import Final

import attrs
import orjson

from crowdd.concurrency import long_process
from crowdd.concurrency.worker_thread import WorkerThread
from crowdd.config import Settings
from crowdd.domain.server.backups.backup import variables
from crowdd.domain.server.backups.folder import BackupFolder
from crowdd.errors import UnavailableError

_PROGRAM: Final = "crowdd.domain.server.backups.program"
_WAIT_SECONDS: Final = 1.0  # after which the process is looked at again


def died() -> str:
    """Why a backup failed whose process was killed."""
    return "The process that makes the backup was killed."


@attrs.frozen(eq=False)
class ScheduledBackups:
    """What a periodic job does. ``_thread`` waits for the process."""

    _settings: Settings
    _thread: WorkerThread

    async def make(self) -> str:
        """Makes a backup, and says in a line which one. Raises UnavailableError with what went wrong, ConfigError."""
        BackupFolder(self._settings.backups.dir)
        with tempfile.TemporaryFile() as output:
            running = long_process.start(_PROGRAM, [], died, output, **_of_libpq(), **variables(self._settings))
            try:
                while not await self._thread.do(running.wait, _WAIT_SECONDS):
                    pass
            finally:
                running.end()
            output.seek(0)
            report = orjson.loads(output.read())
        if "error" in report:
            raise UnavailableError(report["error"])
        return str(report["words"])


def _of_libpq() -> dict[str, str]:
    """Where libpq looks for what a DSN does not say, such as passwords."""
    return {name: text for name, text in os.environ.items() if name == "HOME" or name.startswith("PG")}
