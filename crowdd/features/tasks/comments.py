"""Comments on tasks: volunteers write them to the owners of a project, who answer and settle them (record 19)."""

from __future__ import annotations

from typing import Final

from crowdd.core.records import rights
from crowdd.core.records.records import Records
from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.database.access import Database, Row
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.tasks import comment_statements
from crowdd.features.tasks.contributions import Contributions, refusal
from crowdd.features.tasks.rows import ReadComment, TaskComment
from crowdd.kernel.errors import NOT_FOUND, AnonymousError, FormError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kinds.roles import OWNERS
from crowdd.kinds.task import TASK
from crowdd.kinds.types import clean_text

KINDS: Final = ("problem", "question", "remark")
LISTS: Final = ("open", "done", "held")
MAX_TEXT: Final = 1000
MAX_DAILY: Final = 20  # of one volunteer in one project
MAX_OPEN: Final = 10_000  # in one project
MAX_OF_TASK: Final = 50  # on the page of a task
MAX_READ: Final = 50  # on a task, by a volunteer
MAX_REPLIES: Final = 20  # to one comment
_MAX_ID: Final = 2**63 - 1


class Comments:
    """Takes comments in, lists them for owners, and marks them as done. Lists are for owners: the caller checks."""

    def __init__(self, db: Database, records: Records, contributions: Contributions) -> None:
        self._db, self._records, self._contributions = db, records, contributions

    async def task(self, who: Requester, project_id: int, task_id: int) -> Row:
        """A task of the project as the requester may see it, for a comment.

        Raises NotFoundError, and for those who may not comment AnonymousError or ForbiddenError: before they write.
        """
        network = await self._contributions.networks.of(who, project_id)
        state = await comment_statements.refused(self._db, who, network, project_id)
        if state is not None and (error := refusal(state, who)):
            raise error
        row = await self._records.find(self._db, TASK, who, min(task_id, _MAX_ID))
        if row["project_id"] != project_id:
            raise NotFoundError(NOT_FOUND)
        rights.require(who, row["roles"], TASK.rights.get)
        return row

    async def add(self, who: Requester, project_id: int, task_id: int, kind: str, text: str) -> None:
        """Stores a comment; the same one twice within a day is stored once.

        Raises FormError, NotFoundError, and for those who may not have the project's tasks AnonymousError or
        ForbiddenError.
        """
        text = _checked(text, kind)
        network = await self._contributions.networks.of(who, project_id)
        limits = MAX_DAILY, MAX_OPEN
        state = await comment_statements.add(
            self._db, who, network, project_id, min(task_id, _MAX_ID), kind, text, limits
        )
        if error := _limit_reached(state) or refusal(state, who):
            raise error

    async def listed(self, row: ProjectPage, which: str, place: Keyset) -> KeysetPage[TaskComment]:
        """A page of the comments of a project, one of LISTS."""
        return await comment_statements.listed(self._db, row["id"], which, place)

    async def of_task(self, row: ProjectPage, task_id: int) -> list[TaskComment]:
        """The comments on a task, open ones first, at most MAX_OF_TASK."""
        return await comment_statements.of_task(self._db, row["id"], min(task_id, _MAX_ID), MAX_OF_TASK)

    async def of_reader(self, who: Requester, project_id: int, task_id: int) -> list[ReadComment]:
        """The newest comments on a task that the requester reads, with their answers, at most MAX_READ.

        Their own, and in projects that share comments those of others who have answered it, as they have. Those who are
        known by their network only read none: others may share it.
        """
        if who.actor.startswith("i:"):
            return []
        return await comment_statements.of_reader(self._db, who.actor, project_id, min(task_id, _MAX_ID), MAX_READ)

    async def is_shared(self, who: Requester, project_id: int, task_id: int) -> bool:
        """Whether others who have answered the task read what the requester writes about it."""
        return await comment_statements.is_shared(self._db, who.actor, project_id, min(task_id, _MAX_ID))

    async def report(self, who: Requester, project_id: int, task_id: int, comment_id: int) -> None:
        """Reports a comment of somebody else that the requester reads. Raises NotFoundError."""
        ids = min(task_id, _MAX_ID), min(comment_id, _MAX_ID)
        if not await comment_statements.report(self._db, who.actor, project_id, *ids):
            raise NotFoundError(NOT_FOUND)

    async def show(self, row: ProjectPage, comment_id: int, shown: bool) -> None:
        """Lets volunteers read a shared comment, or hides it from all but its author. Raises NotFoundError."""
        if not await comment_statements.show(self._db, row["id"], min(comment_id, _MAX_ID), shown):
            raise NotFoundError(NOT_FOUND)

    async def reply(self, who: Requester, row: ProjectPage, comment_id: int, text: str) -> None:
        """Answers a comment, which is done with that, and tells its author. The same answer is stored once.

        Raises FormError, NotFoundError, and AnonymousError for a requester without an account.
        """
        rights.require(who, row["roles"], OWNERS)
        if who.acting_user is None:
            raise AnonymousError(_("Sign in first."))
        text = _checked(text)
        state = await comment_statements.reply(
            self._db, who.acting_user, row["id"], min(comment_id, _MAX_ID), text, MAX_REPLIES
        )
        if state == "none":
            raise NotFoundError(NOT_FOUND)
        if state == "full":
            raise FormError({"text": [_("A comment can have at most %(maximum)s answers.", maximum=MAX_REPLIES)]})

    async def settle(self, row: ProjectPage, comment_id: int, settled: bool) -> None:
        """Marks a comment as done, or as open again. Raises NotFoundError."""
        if not await comment_statements.settle(self._db, row["id"], min(comment_id, _MAX_ID), settled):
            raise NotFoundError(NOT_FOUND)


def _checked(text: str, kind: str = KINDS[0]) -> str:
    """The text as it is stored. Raises FormError."""
    wrong: dict[str, list[str]] = {}
    text = clean_text(text).replace("\r\n", "\n").strip()
    if kind not in KINDS:
        wrong["kind"] = [_("Choose one.")]
    if not text:
        wrong["text"] = [_("Please fill this in.")]
    elif len(text) > MAX_TEXT:
        wrong["text"] = [_("Use at most %(maximum)s characters.", maximum=MAX_TEXT)]
    if wrong:
        raise FormError(wrong)
    return text


def _limit_reached(state: str) -> FormError | None:
    if state == "daily":
        words = _("You have sent %(maximum)s comments to this project in a day. Try again tomorrow.", maximum=MAX_DAILY)
        return FormError({"text": [words]})
    if state == "full":
        return FormError({"text": [_("The owners of this project have too many open comments. Try again later.")]})
    return None
