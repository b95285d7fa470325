"""What the page of a project tells of it: who is at work, who answered most, what volunteers agreed on."""

from __future__ import annotations

from typing import Final

import attrs

from crowdd.database.access import Database
from crowdd.features.projects import list_statements as project_list_statements
from crowdd.features.projects.ownership import SettingsOverview
from crowdd.features.projects.rows import ProjectAttention, ProjectOverview, ProjectPage
from crowdd.features.questions.answer_fields import AnswerFields, Unfit
from crowdd.features.results.results import FinishedTasks
from crowdd.features.tasks import statements as task_statements
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.roles import OWNERS

HERE_MINUTES: Final = 10  # the page of a task prolongs its reservation every five minutes while somebody looks at it
_LEADERS: Final = 5
_AGREED: Final = 3


@attrs.frozen
class Overview:
    """``agreed`` are the newest finished tasks with a most frequent answer. They and the agreement are for those who
    may see answers; others get neither. ``attention`` and ``unfit`` (None: there is nothing to say) are for owners,
    ``accuracy`` the requester's own.
    """

    row: ProjectOverview
    agreed: list[Values]
    attention: ProjectAttention | None
    unfit: Unfit | None
    accuracy: Values | None = None


class ProjectOverviews:
    """Reads it in two statements, and one or two more for owners."""

    def __init__(
        self, db: Database, finished_tasks: FinishedTasks, settings: SettingsOverview, fields: AnswerFields
    ) -> None:
        self._db, self._finished_tasks, self._settings, self._fields = db, finished_tasks, settings, fields

    async def of(self, row: ProjectPage, who: Requester) -> Overview:
        """What there is to tell of a project to the requester, for whom this is its row of ``Projects.page``."""
        figures = await project_list_statements.read_overview(self._db, row["id"], HERE_MINUTES, _LEADERS)
        attention = await self._settings.attention(row, who) if row["roles"] & OWNERS else None
        unfit = await self._fields.unfit(row, who) if row["roles"] & OWNERS else None
        progress = await task_statements.read_progress(self._db, who.actor, row["id"]) if _shows_accuracy(row) else None
        accuracy = progress and progress["accuracy"]
        if not self._finished_tasks.may_see(row):
            return Overview({**figures, "n_agreement": 0, "agreement": None}, [], attention, unfit, accuracy)
        agreed = await self._finished_tasks.agreed(row, _AGREED) if row["n_completed_tasks"] else []
        return Overview(figures, agreed, attention, unfit, accuracy)


def _shows_accuracy(row: ProjectPage) -> bool:
    return row["info"].get("show_accuracy") is True
