"""Letters of owners: a blog post that goes with its whole text to those who helped the project and agreed to e-mails.

It goes along with the weekly e-mail (``Digest``), so nobody gets more than one e-mail in seven days.
"""

from __future__ import annotations

from typing import Final

import attrs

from crowdd.core.records import rights
from crowdd.core.records.records import Records
from crowdd.database.access import Transactions
from crowdd.features.news import statements
from crowdd.features.news.rows import LetterState
from crowdd.features.projects.rows import ProjectPage
from crowdd.kernel.errors import NOT_FOUND, ConflictError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.blogpost import BLOGPOST

MAX_COUNTED: Final = 1000
"""So many readers are counted."""

_MAX_ID: Final = 2**63 - 1


@attrs.frozen
class OwnerLetters:
    """For owners. All raise NotFoundError for a post that is not one of the project, or that is a draft."""

    _db: Transactions
    _records: Records

    async def post(self, who: Requester, row: ProjectPage, post_id: int) -> Values:
        """The post. Raises for others than owners."""
        rights.require_owner(who, row["roles"])
        blogpost = await self._records.get(BLOGPOST, who, post_id) if post_id <= _MAX_ID else None
        if blogpost is None or blogpost["project_id"] != row["id"] or not blogpost["published"]:
            raise NotFoundError(NOT_FOUND)
        return blogpost

    async def state(self, row: ProjectPage, post_id: int) -> LetterState:
        """Whether it was sent, whether it may be sent now, and how many people it reaches."""
        return await statements.read_letter_state(self._db, row["id"], post_id, MAX_COUNTED)

    async def send(self, who: Requester, row: ProjectPage, post_id: int) -> None:
        """Sends the post. Raises ConflictError when the project has sent a letter in the last seven days."""
        await self.post(who, row, post_id)
        if not await statements.send_letter(self._db, row["id"], post_id):
            raise ConflictError(_("This project has sent a letter in the last seven days."))
