"""Kinds whose rows may come with a file: blog posts, helping materials, announcements."""

from __future__ import annotations

from crowdd.domain.core.records import Behaviour
from crowdd.domain.core.uploads import FileChanges, Upload, container_of
from crowdd.kinds.kind import Kind
from crowdd.requester import Requester
from crowdd.storage.core import audit
from crowdd.storage.database import Database, Row
from crowdd.storage.projects import media
from crowdd.values import Values


class MediaBehaviour(Behaviour):
    """One row of one table, its author where the kind has one, and its file."""

    def __init__(self, kind: Kind, base_url: str) -> None:
        super().__init__(kind)
        self._base_url = base_url
        self._is_read = "title" in kind.by_name  # blog posts and announcements: who said what is kept

    async def prepare(self, tx: Database, who: Requester, values: Values) -> Values:
        return {**values, "user_id": who.user_id} if "user_id" in self.kind.by_name else values

    async def create(self, tx: Database, who: Requester, rows: list[Values]) -> list[int]:
        made = await super().create(tx, who, rows)
        for row_id, values in zip(made, rows, strict=True):
            if self._is_read:
                of, after = values.get("project_id"), {"title": values["title"]}
                await audit.write(tx, who, "create", self.kind.name, row_id, project_id=of, after=after)
        return made

    async def change(self, tx: Database, who: Requester, row: Row, changes: Values) -> None:
        await super().change(tx, who, row, changes)
        if self._is_read:
            await audit.write_changes(tx, who, self.kind.name, row, changes)

    async def attach(self, tx: Database, row: Row, upload: Upload, files: FileChanges) -> None:
        """Gives a row its file, and says so in ``media_url``, ``info.container`` and ``info.file_name``."""
        container = container_of(row.get("project_id"))
        path = files.store(container, upload)
        info = {**(row["info"] or {}), "container": container, "file_name": path.rpartition("/")[2]}
        columns = {"media_url": f"{self._base_url}/uploads/{path}", "media_file": path, "info": info}
        files.drop(await media.set_file(tx, self.kind, row["id"], columns))

    async def delete(self, tx: Database, who: Requester, row: Row, files: FileChanges) -> None:
        files.drop(await media.file_of(tx, self.kind, row["id"]))
        await super().delete(tx, who, row, files)
