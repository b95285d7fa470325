"""The picture of a project: cropped, redrawn, and kept with its other files."""

from __future__ import annotations

from typing import Final

from crowdd.concurrency.worker_thread import WorkerThread
from crowdd.domain.accounts.avatars import Box, redrawn
from crowdd.domain.core import rights
from crowdd.domain.core.quota import Quota
from crowdd.domain.core.uploads import FileChanges, Upload, Uploads, container_of, with_files
from crowdd.errors import FormError, InvalidValueError
from crowdd.kinds.roles import OWNERS
from crowdd.requester import Requester
from crowdd.storage.core import audit
from crowdd.storage.database import Database, Transactions
from crowdd.storage.projects import projects
from crowdd.storage.projects.rows import ProjectPage

SIZE: Final = (720, 480)
"""Pixels of a finished picture: the shape of every print on our pages, sharp on a dense screen."""


class Thumbnails:
    """Pictures of projects."""

    def __init__(
        self, db: Transactions, worker_thread: WorkerThread, uploads: Uploads, base_url: str, quota: Quota
    ) -> None:
        self._quota = quota
        self._db, self._worker_thread, self._uploads, self._base_url = db, worker_thread, uploads, base_url

    async def set(self, row: ProjectPage, upload: Upload, box: Box | None, who: Requester) -> None:
        """Gives a project a picture; the one before goes with the sweep of orphans. Raises FormError for ``avatar``."""
        rights.require(who, row["roles"], OWNERS)
        try:
            picture = await self._worker_thread.do(redrawn, upload.content, box, SIZE, "WEBP")
        except InvalidValueError as error:
            raise FormError({"avatar": [error.args[0]]}) from None

        async def work(tx: Database, files: FileChanges) -> None:
            path = files.store(container_of(row["id"]), Upload("thumbnail.webp", picture))
            container, name = path.split("/")
            info = {"container": container, "thumbnail": name, "thumbnail_url": f"{self._base_url}/uploads/{path}"}
            await projects.tell(tx, row["id"], info)
            await audit.write(tx, who, "update", "project", row["id"], project_id=row["id"], attribute="info.thumbnail")

        await with_files(self._db, self._uploads, work, lambda tx: self._quota.require(tx, who))
