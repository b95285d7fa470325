"""Pictures of accounts: stored as redrawn files."""

from __future__ import annotations

from crowdd.core import log_statements
from crowdd.core.pictures import Box, redrawn
from crowdd.core.uploads import FileChanges, Upload, Uploads, with_files
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts import statements as account_statements
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import FormError, InvalidValueError
from crowdd.kernel.requester import Requester


async def _unchecked(tx: Database) -> None:
    """A person has one picture of some kB: it needs no quota."""


class Avatars:
    """Pictures of accounts."""

    def __init__(self, db: Transactions, worker_thread: WorkerThread, uploads: Uploads, base_url: str) -> None:
        self._db, self._worker_thread, self._uploads, self._base_url = db, worker_thread, uploads, base_url

    async def set(self, user_id: int, upload: Upload, box: Box | None, who: Requester) -> None:
        """Gives a person a picture; the one before goes. Raises FormError for ``avatar``."""
        try:
            picture = await self._worker_thread.do(redrawn, upload.content, box)
        except InvalidValueError as error:
            raise FormError({"avatar": [error.args[0]]}) from None

        async def work(tx: Database, files: FileChanges) -> None:
            path = files.store(f"user-{user_id}", Upload("avatar.png", picture))
            container, name = path.split("/")
            info = {"container": container, "avatar": name, "avatar_url": f"{self._base_url}/uploads/{path}"}
            files.drop(await account_statements.set_avatar(tx, user_id, path, info))
            await log_statements.write_act(tx, who, "update", "user", user_id, attribute="avatar")

        await with_files(self._db, self._uploads, work, _unchecked)
