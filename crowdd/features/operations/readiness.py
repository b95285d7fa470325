"""Whether the server can do its work now: it is not about to end, the database has its tables, the disk has room."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from twisted.internet.defer import TimeoutError, ensureDeferred
from twisted.internet.interfaces import IReactorTime

from crowdd.core.secrets import Secrets
from crowdd.database import schema
from crowdd.database.access import Transactions
from crowdd.features.operations import keys, statements
from crowdd.kernel.concurrency.cache import Cache
from crowdd.kernel.errors import CrowddError
from crowdd.sched import statements as sched_statements
from crowdd.sched.nodes import Node

PATIENCE = 2.0  # seconds
KEPT = 1.0  # seconds: asking often costs nothing more
OK = "ok"
_UPLOADS = "uploads"  # of the data folder


class Readiness:
    """Asks the database and the disk; ``clock`` is the reactor."""

    def __init__(
        self, clock: IReactorTime, db: Transactions, secrets: Secrets, folder: Path, min_free_bytes: int, node: Node
    ) -> None:
        self._clock, self._db, self._secrets = clock, db, secrets
        self._folder, self._minimum, self._node = folder, min_free_bytes, node
        self._checks = Cache[dict[str, str]](clock, KEPT)

    async def checks(self) -> dict[str, str]:
        """What was looked at, and in a sentence what is wrong with it; OK where nothing is."""
        if self._node.draining:  # at once, also where the database does not answer
            return {"server": "The server is stopping."}
        return dict(await self._checks.get("", self._check))

    async def _check(self) -> dict[str, str]:
        return {"disk": self.disk(), **await self._database()}

    def disk(self) -> str:
        """The same for the data folder alone, and the folder of uploads in it, which may lie on another disk."""
        uploads = self._folder / _UPLOADS
        try:
            for folder, name in ((self._folder, "data folder"), (uploads, "folder of uploads")):
                if folder == uploads and not folder.is_dir():
                    continue
                if not os.access(folder, os.W_OK):
                    return f"The {name} cannot be written."
                if shutil.disk_usage(folder).free < self._minimum:
                    return f"There is too little free space in the {name}."
        except OSError:
            return "The data folder is not there."
        return OK

    async def _database(self) -> dict[str, str]:
        asking = ensureDeferred(self._ask()).addTimeout(PATIENCE, self._clock)
        try:
            return await asking
        except TimeoutError:
            return {"database": "It did not answer in time.", "migrations": "unknown"}
        except CrowddError as error:
            return {"database": str(error), "migrations": "unknown"}

    async def _ask(self) -> dict[str, str]:
        closed = await sched_statements.is_read_only(self._db)
        if self._db.no_space:
            await statements.check_disk_space(self._db)
        try:
            (await schema.status(self._db, self._node.code)).require()
        except schema.SchemaError as error:
            return {"database": OK, "migrations": str(error)}
        fits = (await keys.read_key_state(self._db, self._secrets)).match in keys.FITTING_MATCHES
        return {
            "database": "It takes no changes." if closed else OK,
            "migrations": OK,
            "key": OK if fits else "The database was used with another secret.key.",
        }
