"""The contents of the home page: for volunteers their own, for visitors a task and results of a project."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs

from crowdd.database.access import Database
from crowdd.features.news import home_statements
from crowdd.features.news.own_home import OwnHome, OwnHomes
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectSummary
from crowdd.features.results.result_display import pictures_of, read_asked, show_task
from crowdd.features.results.results import FinishedTasks
from crowdd.features.statistics.statistics import Statistics
from crowdd.kernel.errors import ForbiddenError, NotFoundError
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values

_AGREED: Final = 3
_NOBODY: Final = Requester()


@attrs.frozen
class Showcase:
    """A project with open tasks: the texts among which the picture of one is, and its newest results with theirs."""

    short_name: str
    pictures: list[str]
    agreed: list[Values]


class Front:
    """Reads what the home page shows beside the lists of projects."""

    def __init__(
        self,
        db: Database,
        own_homes: OwnHomes,
        projects: Projects,
        finished_tasks: FinishedTasks,
        statistics: Statistics,
    ) -> None:
        self._db, self._own_homes, self._statistics = db, own_homes, statistics
        self._projects, self._finished_tasks = projects, finished_tasks

    async def own(self, who: Requester) -> OwnHome | None:
        """What is the requester's; None without an account or an answer."""
        return await self._own_homes.of(who)

    async def figures(self) -> Values:
        """Those of the site (``Statistics.for_home``)."""
        return await self._statistics.for_home()

    async def showcase(self, rows: Iterable[ProjectSummary]) -> Showcase | None:
        """That of the first project with open tasks, as somebody sees it who has not answered; None without one."""
        first = next((row for row in rows if row["n_tasks"] and row["overall_progress"] < 100), None)
        if first is None:
            return None
        task = await home_statements.find_unanswered_task(self._db, _NOBODY, first["id"])
        try:
            row = await self._projects.page(first["short_name"], _NOBODY)
        except (NotFoundError, ForbiddenError):  # it has just been deleted or locked
            return None
        visible = self._finished_tasks.may_see(row) and row["n_completed_tasks"]
        agreed = await self._finished_tasks.agreed(row, _AGREED) if visible else []
        asked = read_asked(row["info"])
        pictures = pictures_of(task["info"], asked) if task else []
        return Showcase(first["short_name"], pictures, [show_task(one, asked) for one in agreed])
