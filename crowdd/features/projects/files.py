"""Who may read the files of a project, and the kinds whose rows may come with a file.

Everybody may read them, or those who have opened the project's lock. The kinds are blog posts, helping materials and
announcements.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from typing import Final

import attrs

from crowdd.core import log_statements
from crowdd.core.records.records import Behaviour
from crowdd.core.secrets import Secrets
from crowdd.core.uploads import FileChanges, Upload, container_of
from crowdd.database.access import Database, Row
from crowdd.features.projects import statements
from crowdd.features.projects.rows import ProjectLock, ProjectPage
from crowdd.kernel.errors import NOT_FOUND, NotFoundError
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.kind import Kind

GRANT_SECONDS: Final = 12 * 3600
_PROJECT = re.compile(r"project-(\d{1,18})(?:~(\d{1,12})~([0-9a-f]{40}))?")


@attrs.frozen
class FileAccess:
    """Decides on addresses of uploads. ``seconds`` gives epoch seconds.

    The presenter's frame has no origin, so a browser sends no cookies with its requests. Files of a locked project have
    another address there: it holds until when it works, and our signature.
    """

    db: Database
    secrets: Secrets
    seconds: Callable[[], float]

    async def container(self, word: str, who: Requester) -> tuple[str, bool]:
        """The container that a word of an address stands for, and whether everybody may read it. NotFoundError."""
        match = _PROJECT.fullmatch(word)
        if match is None:
            return word, True
        row = await statements.find_project_lock(self.db, int(match[1]))
        if row is None:
            raise NotFoundError(NOT_FOUND)
        member = who.user_id in {*row["owners_ids"], *row["reviewer_ids"], *row["translator_ids"]}
        known = who.admin or member or row["lock_id"] in who.unlocked
        if row["lock_id"] is not None and not known and not self._granted(row, match[2], match[3]):
            raise NotFoundError(NOT_FOUND)
        return container_of(row["id"]), row["lock_id"] is None

    def address(self, row: ProjectPage) -> str | None:
        """Where the frame of a locked project (its row) finds the project's files; None for an open one."""
        if row["lock_id"] is None:
            return None
        until = int(self.seconds()) + GRANT_SECONDS
        return f"/uploads/{container_of(row['id'])}~{until}~{self._signature(row, until)}/"

    def _granted(self, row: ProjectLock, until: str | None, signature: str | None) -> bool:
        if until is None or signature is None or int(until) <= self.seconds():
            return False
        return hmac.compare_digest(self._signature(row, int(until)), signature)

    def _signature(self, row: ProjectPage | ProjectLock, until: int) -> str:
        """Another password is another lock: it ends the addresses of before."""
        return self.secrets.digest("uploads", f"{row['id']} {row['lock_id']} {until}").hex()[:40]


def readdressed(text: str, row: ProjectPage, address: str | None) -> str:
    """A text for the frame of a project, with the addresses of files that work there."""
    return text if address is None else text.replace(f"/uploads/{container_of(row['id'])}/", address)


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
                await log_statements.write_act(tx, who, "create", self.kind.name, row_id, project_id=of, after=after)
        return made

    async def change(self, tx: Database, who: Requester, row: Row, changes: Values) -> None:
        await super().change(tx, who, row, changes)
        if self._is_read:
            await log_statements.write_changes(tx, who, self.kind.name, row, changes)

    async def attach(self, tx: Database, row: Row, upload: Upload, files: FileChanges) -> None:
        """Gives a row its file, and says so in ``media_url``, ``info.container`` and ``info.file_name``."""
        container = container_of(row.get("project_id"))
        path = files.store(container, upload)
        info = {**(row["info"] or {}), "container": container, "file_name": path.rpartition("/")[2]}
        columns = {"media_url": f"{self._base_url}/uploads/{path}", "media_file": path, "info": info}
        files.drop(await statements.set_row_file(tx, self.kind, row["id"], columns))

    async def delete(self, tx: Database, who: Requester, row: Row, files: FileChanges) -> None:
        files.drop(await statements.find_row_file(tx, self.kind, row["id"]))
        await super().delete(tx, who, row, files)
