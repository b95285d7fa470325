"""How many results are right: a random sample of them, which experts decide without seeing them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, TypedDict

from crowdd.core import log_statements
from crowdd.core.records import rights
from crowdd.core.records.records import Records
from crowdd.database.access import Database, Transactions
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.results.consensus import wilson_interval
from crowdd.features.results.rows import CheckedAgreement, CheckedClass, CheckedShare
from crowdd.features.trust import review_statements, sample_statements
from crowdd.features.trust.recalibration import Checked, recalibrate
from crowdd.features.trust.rows import Recalibration, SampledResult
from crowdd.features.trust.whole_answers import require_person
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import InvalidValueError, PreconditionError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Json, Values
from crowdd.kinds.roles import OWNERS, REVIEWERS
from crowdd.kinds.task import TASK

MAX_DRAWN: Final = 2000
"""Results that are drawn at once."""
SURE: Final = 0.95


class ClassShares(TypedDict):
    """A class, by its ``number`` from 1: ``precision`` of results that say it, ``recall`` of those that experts say."""

    number: int
    precision: CheckedShare
    recall: CheckedShare


class SampleFigures(TypedDict):
    """What a sample says. ``confusion``: how many results say a class (column) of which experts say another (row).

    ``drawn``: how many; ``since``: when the first were. ``sure``: how many are right of which the model says SURE.
    """

    drawn: int
    since: datetime | None
    agree: CheckedShare
    sure: CheckedShare
    classes: list[ClassShares]
    confusion: list[list[int]]


def share_of(right: int, n: int) -> CheckedShare:
    """The share with its interval."""
    if not n:
        return CheckedShare(right=0, n=0, share=None, low=None, high=None)
    low, high = wilson_interval(right, n)
    return CheckedShare(right=right, n=n, share=right / n, low=low, high=high)


def checked_by(by: str, pairs: Counter[tuple[int, int]], choices: Sequence[Json]) -> CheckedAgreement:
    """What is right (first) against what was said (second), each the number of a choice from 1."""
    numbers = range(1, len(choices) + 1)
    confusion = [[pairs[truth, class_] for class_ in numbers] for truth in numbers]
    right = [confusion[nth][nth] for nth in range(len(choices))]
    return CheckedAgreement(
        by=by,
        accuracy=share_of(sum(right), sum(map(sum, confusion))),
        classes=[
            CheckedClass(
                value=choice,
                precision=share_of(right[nth], sum(row[nth] for row in confusion)),
                recall=share_of(right[nth], sum(confusion[nth])),
            )
            for nth, choice in enumerate(choices)
        ],
        confusion=confusion,
    )


def figures_of(sample: Sequence[SampledResult], k: int) -> SampleFigures:
    """What a sample of a project with ``k`` classes says so far."""
    pairs = Counter((each["decided"], each["class_"]) for each in sample if each["decided"] is not None)
    checked = checked_by("sample", pairs, [None] * k)
    sure = [each for each in sample if each["decided"] is not None and each["confidence"] >= SURE]
    return SampleFigures(
        drawn=len(sample),
        since=min((each["drawn"] for each in sample), default=None),
        agree=checked["accuracy"],
        sure=share_of(sum(each["class_"] == each["decided"] for each in sure), len(sure)),
        classes=[
            ClassShares(number=nth, precision=one["precision"], recall=one["recall"])
            for nth, one in enumerate(checked["classes"], 1)
        ],
        confusion=checked["confusion"],
    )


class Sampling:
    """For owners and reviewers. ``row`` is a project's row as ``Projects.page`` gives it."""

    def __init__(
        self, db: Transactions, records: Records, notify: Callable[[int], None], worker_thread: WorkerThread
    ) -> None:
        self._db, self._records, self._notify, self._worker_thread = db, records, notify, worker_thread

    async def choices(self, row: ProjectPage) -> list[object]:
        """The classes of the project in their order; [] where the first answer field is no label."""
        return [*await review_statements.list_choices(self._db, row["id"])]

    async def figures(self, who: Requester, row: ProjectPage, k: int) -> SampleFigures:
        """What experts have said of the sample. Raises AnonymousError or ForbiddenError."""
        rights.require(who, row["roles"], REVIEWERS)
        return figures_of(await sample_statements.list_sampled(self._db, row["id"]), k)

    async def rest(self, row: ProjectPage) -> int:
        """How many results can still be drawn; more than MAX_DRAWN are not counted."""
        return await sample_statements.count_rest(self._db, row["id"], MAX_DRAWN)

    async def next(self, who: Requester, row: ProjectPage) -> Values | None:
        """The task that is to be decided next."""
        task_id = await sample_statements.find_undecided(self._db, row["id"])
        return None if task_id is None else await self._records.get(TASK, who, task_id)

    async def recalibration(self, row: ProjectPage) -> Recalibration | None:
        """How often results are right of which the model says something; None while too few are decided."""
        return await sample_statements.find_recalibration(self._db, row["id"])

    async def recalibrate_due(self) -> int:
        """Fits the curves of projects whose experts have decided more; how many."""
        due = await sample_statements.list_to_recalibrate(self._db)
        for project_id in due:
            sample = await sample_statements.list_sampled(self._db, project_id)
            checked = [
                Checked(each["confidence"], each["class_"] == each["decided"], each["task_id"])
                for each in sample
                if each["decided"] is not None
            ]
            curve = await self._worker_thread.do(recalibrate, checked)
            if curve is not None:
                await sample_statements.set_recalibration(self._db, project_id, curve)
        for project_id in await sample_statements.list_untold(self._db):
            while await sample_statements.tell_results(self._db, project_id):
                pass
            self._notify(project_id)
        return len(due)

    async def draw(self, who: Requester, row: ProjectPage, n: int) -> int:
        """Draws further results, for owners; how many. Raises InvalidValueError, AnonymousError, ForbiddenError."""
        rights.require(who, row["roles"], OWNERS)
        if not 1 <= n <= MAX_DRAWN:
            raise InvalidValueError(_("Enter a whole number from 1 to %(maximum)s.", maximum=MAX_DRAWN))

        async def work(tx: Database) -> int:
            drawn = await sample_statements.draw_sample(tx, row["id"], n)
            await log_statements.write_act(
                tx, who, "draw_sample", "project", row["id"], project_id=row["id"], after=drawn
            )
            return drawn

        return await self._db.transaction(work)

    async def decide(self, who: Requester, row: ProjectPage, task_id: int, class_: int) -> None:
        """Stores what an expert says of a task, which is decided by that unless an expert has decided it already.

        Raises PreconditionError for a task that is not in the sample or that somebody has decided, InvalidValueError,
        AnonymousError, ForbiddenError.
        """
        rights.require(who, row["roles"], REVIEWERS)
        person, owns = require_person(who), bool(row["roles"] & OWNERS)

        async def work(tx: Database) -> str:
            state = await sample_statements.decide_sampled(tx, row["id"], task_id, person, class_, owns=owns)
            if state == "decided":
                after = {"sample": True, "class": class_}
                await log_statements.write_act(
                    tx, who, "decide_task", "task", task_id, project_id=row["id"], before=None, after=after
                )
            return state

        state = await self._db.transaction(work)
        if state == "class":
            raise InvalidValueError(_("Choose an answer."))
        if state != "decided":
            raise PreconditionError(_("Somebody has decided this task of the sample already."), code="decided_before")
        self._notify(row["id"])
