"""What a volunteer did in a project, and where they may go on: for the page at the end of the tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from crowdd.database.access import Database
from crowdd.features.presenters import statements
from crowdd.features.presenters.rows import OwnReading, OwnShare
from crowdd.features.projects.project_lists import ProjectLists
from crowdd.features.projects.rows import ChainStep, ListedProject, ProjectPage
from crowdd.features.results.results import FinishedTasks
from crowdd.features.results.rows import ResultSummary
from crowdd.features.tasks.contributions import Contributions
from crowdd.kernel.requester import Requester

RECENT: Final = 100  # last answers that are drawn and looked at
_READ: Final = 20  # of them, among which those to show are chosen
_SHOWN, _NEXT, _OUTCOMES = 2, 3, 3
_LIVELY: Final = 24


@attrs.frozen
class OwnWork:
    """``done``: answers of the volunteer in the project. The rest is for those who may see answers.

    ``settled`` of the last ``recent`` have a result; None where that is not told.
    """

    done: int
    recent: int
    settled: int | None
    readings: list[OwnReading]


class Thanks:
    """Tells a volunteer of their own answers, and of other projects."""

    def __init__(
        self, db: Database, contributions: Contributions, finished_tasks: FinishedTasks, project_lists: ProjectLists
    ) -> None:
        self._db, self._contributions = db, contributions
        self._finished_tasks, self._project_lists = finished_tasks, project_lists

    async def own_work(self, who: Requester, row: ProjectPage) -> OwnWork:
        """What the requester, for whom this is a row of ``Projects.page``, did in the project.

        A project with gold tasks tells nothing of results: gold tasks never have one, and so would be known.
        """
        progress = await self._contributions.progress(who, row["id"])
        done, share = int(progress["done"]), OwnShare(recent=0, settled=0)
        if done:
            share = await statements.read_own_share(self._db, who, row["id"], RECENT)
        if row["has_gold"] or not self.tells_results(row):
            return OwnWork(done, share["recent"], None, [])
        readings = await statements.list_own_readings(self._db, who, row["id"], _READ) if share["settled"] else []
        return OwnWork(done, share["recent"], share["settled"], choose_readings(readings))

    def tells_results(self, row: ProjectPage) -> bool:
        """Whether the requester may see what came out."""
        return self._finished_tasks.may_see(row)

    async def found(self, row: ProjectPage) -> ResultSummary | None:
        """What the results of the project say together; None where nothing is told of them (``own_work``)."""
        if row["has_gold"] or not self.tells_results(row):
            return None
        summary = await self._finished_tasks.summary(row, _OUTCOMES)
        return summary if summary["outcomes"] else None

    async def steps(self, row: ProjectPage) -> list[ChainStep]:
        """The public projects before and behind this one in its chain, those behind it first."""
        return await statements.list_steps(self._db, row["id"])

    async def next_projects(self, row: ProjectPage) -> list[ListedProject]:
        """Other public projects with open tasks."""
        lively = await self._project_lists.liveliest(_LIVELY)
        return choose_projects(lively.rows, row["id"])


def choose_readings(readings: Sequence[OwnReading]) -> list[OwnReading]:
    """Two of them: the newest, and of the others the newest that ended otherwise if there is one."""
    first, others = readings[:1], readings[1:]
    other = next((one for one in others if one["same"] is not readings[0]["same"]), None)
    return [*first, *([other] if other else others[: _SHOWN - 1])]


def choose_projects(rows: Iterable[ListedProject], own: int) -> list[ListedProject]:
    """Three with open tasks, those with a picture first; the order of equals stays."""
    candidates = [one for one in rows if one["id"] != own and one["n_tasks"] and one["overall_progress"] < 100]
    return sorted(candidates, key=lambda one: not (one["info"] or {}).get("thumbnail_url"))[:_NEXT]
