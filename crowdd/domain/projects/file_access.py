"""Who may read the files of a project: everybody, or those who have opened its lock."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from typing import Final

import attrs

from crowdd.domain.core.secrets import Secrets
from crowdd.domain.core.uploads import container_of
from crowdd.errors import NOT_FOUND, NotFoundError
from crowdd.requester import Requester
from crowdd.storage.database import Database
from crowdd.storage.projects import projects
from crowdd.storage.projects.owner_rows import ProjectLock
from crowdd.storage.projects.rows import ProjectPage

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
        row = await projects.lock_of(self.db, int(match[1]))
        if row is None:
            raise NotFoundError(NOT_FOUND)
        member = who.user_id in row["owners_ids"] or who.user_id in row["reviewer_ids"]
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
