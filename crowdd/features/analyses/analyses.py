"""Analyses of a project's answers, for its owners: list and start them, read their findings, write them as files."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncGenerator, Sequence
from typing import Final, TypedDict

import attrs

from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.core.text.words import csv_cell
from crowdd.database.access import Database, Transactions
from crowdd.features.analyses import agreement, statements
from crowdd.features.analyses.methods import LABELS, METHODS, PAIRS, TEXTS, Method, suggested
from crowdd.features.analyses.rows import AnalysisRow, ItemEstimate, TaskEstimate, VolunteerEstimate
from crowdd.features.analyses.runner import AnalysisRunner, question_of
from crowdd.features.results import agreement_statements
from crowdd.features.results.rows import AgreementFigures
from crowdd.features.tasks.changes import Changes, Effect
from crowdd.features.trust import review_statements
from crowdd.kernel.errors import NOT_FOUND, ConflictError, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Json, Values
from crowdd.kinds.body import Body, key
from crowdd.kinds.types import Choice
from crowdd.sched.queue import Queue

HANDLER: Final = "analyse"
MAX_KEPT: Final = 20
"""Analyses of a project."""
ANSWERS: Final = ("counted", "all")


class AnalysisBody(Body):
    """An analysis that is started."""

    method: str = key(Choice(choices=(*METHODS,)))
    answers: str = key(
        Choice(choices=ANSWERS), "Only answers that count, or also late ones and those set aside.", default=ANSWERS[0]
    )


class TaskFinding(TypedDict):
    """What an analysis says of a task. ``value`` is the choice, with ``decided`` False if several are equally probable.

    ``probabilities`` are those of ``choices`` of the analysis. ``different``: the result was another one when the
    analysis was done. ``consensus`` is what the result says now.
    """

    task_id: int
    decided: bool
    value: Json
    model: float
    probabilities: list[float]
    different: bool
    consensus: Json


class Advice(TypedDict):
    """What helps to choose: methods that take its answers, which one suits, and why there may be nothing to analyse."""

    methods: list[Method]
    suggested: str
    refusal: str


class Analyses:
    """Those that take the requester raise NotFoundError, AnonymousError or ForbiddenError."""

    def __init__(self, db: Transactions, queue: Queue, changes: Changes, runner: AnalysisRunner) -> None:
        self._db, self._queue, self._changes, self.runner = db, queue, changes, runner

    async def listed(self, who: Requester, project_id: int) -> list[AnalysisRow]:
        """All of a project, the newest first."""
        await self._changes.require(self._db, who, project_id)
        return await statements.list_analyses(self._db, project_id)

    async def get(self, who: Requester, project_id: int, analysis_id: int) -> AnalysisRow:
        """One of them."""
        await self._changes.require(self._db, who, project_id)
        row = await statements.find_analysis(self._db, project_id, analysis_id)
        if row is None:
            raise NotFoundError(NOT_FOUND, hint=f"The project has no analysis {analysis_id}.")
        return row

    async def advice(self, project_id: int, info: Values) -> Advice:
        """Which methods there are, and which one suits the answers of a project with this ``info``."""
        median = await statements.read_median_answers(self._db, project_id)
        taken, refusal, n_choices = set[str](), "", 0
        for takes in dict.fromkeys(method.takes for method in METHODS.values()):
            try:
                question = question_of(info, takes)
            except InvalidValueError as error:
                refusal = refusal or error.args[0]
                continue
            taken.add(takes)
            n_choices = max(n_choices, len(question.choices or ()))
        return Advice(
            methods=[method for method in METHODS.values() if method.takes in taken],
            suggested="rasa" if taken == {TEXTS} else suggested(median, n_choices),
            refusal="" if taken else refusal,
        )

    async def add(self, who: Requester, project_id: int, body: AnalysisBody) -> AnalysisRow:
        """Starts an analysis.

        Raises InvalidValueError; ConflictError while another one runs, and when MAX_KEPT are there.
        """
        await self._changes.require(self._db, who, project_id)
        method = METHODS[body.method]
        method.require()
        question_of(await statements.read_project_info(self._db, project_id) or {}, method.takes)

        async def work(tx: Database) -> int:
            _require_room(*await statements.lock_analyses(tx, project_id))
            parameters = dict(method.parameters)
            analysis_id = await statements.insert_analysis(
                tx, project_id, method.name, body.answers, parameters, who.acting_user
            )
            item_id = await self._queue.add(tx, HANDLER, {"analysis": analysis_id}, who, project_id)
            await statements.set_item(tx, analysis_id, item_id)
            return analysis_id

        return await self.get(who, project_id, await self._db.transaction(work))

    async def delete(self, who: Requester, project_id: int, analysis_id: int) -> None:
        """Delete an analysis with its findings. End it if it is running."""
        row = await self.get(who, project_id, analysis_id)
        if row["queue_item"] is not None and row["state"] in ("waiting", "running"):
            await self._queue.cancel(who, row["queue_item"])
        await statements.delete_outcomes(self._db, project_id, analysis_id)
        await statements.delete_analysis(self._db, project_id, analysis_id)
        await statements.delete_outcomes(self._db, project_id, analysis_id)  # what was being stored meanwhile

    async def apply(self, who: Requester, project_id: int, analysis_id: int, dry_run: bool = False) -> Effect:
        """Has results say what a finished analysis says, where that differs; ``tasks`` of the effect: how many do.

        Raises ConflictError for an analysis that is not done, InvalidValueError without a label to replace.
        """
        row = await self.get(who, project_id, analysis_id)
        if row["state"] != "done":
            raise ConflictError(_("The analysis is not done yet."))
        if row["method"] == agreement.NAME:
            raise InvalidValueError(_("This analysis measures agreement. Use another method for results."))
        if METHODS[row["method"]].takes != LABELS:
            raise InvalidValueError(_("Results cannot be replaced by what this method says."))
        if not await review_statements.list_choices(self._db, project_id):
            raise InvalidValueError(_("Only results of a label can be replaced. Say first what answers contain."))
        return await self._changes.apply_analysis(who, project_id, analysis_id, dry_run)

    async def agreement(self, row: AnalysisRow) -> AgreementFigures | None:
        """How far volunteers agree, by an analysis of that; None by others."""
        if row["method"] != "agreement":
            return None
        return await agreement_statements.find_figures(self._db, row["project_id"], row["id"])

    async def items(self, row: AnalysisRow) -> list[ItemEstimate]:
        """How strong the items are that volunteers compared, the strongest first; [] by other methods."""
        if METHODS[row["method"]].takes != PAIRS:
            return []
        return await statements.list_items(self._db, row["project_id"], row["id"])

    async def tasks(self, row: AnalysisRow, place: Keyset, *, different: bool = False) -> KeysetPage[TaskFinding]:
        """A page of the tasks of an analysis by their ids. ``different``: only those whose result was another one."""
        page = await statements.list_task_outcomes(self._db, row["project_id"], row["id"], place, different=different)
        return KeysetPage([_finding(row, each) for each in page.rows], page.previous, page.next)

    async def volunteers(self, row: AnalysisRow, place: Keyset) -> KeysetPage[VolunteerEstimate]:
        """A page of the volunteers of an analysis by their accuracy."""
        return await statements.list_volunteer_outcomes(self._db, row["project_id"], row["id"], place)


def _require_room(n: int, busy: bool) -> None:
    if busy:
        raise ConflictError(_("Another analysis of this project is running. Wait until it is done."))
    if n >= MAX_KEPT:
        words = _("A project keeps at most %(max)s analyses. Delete one first.", max=MAX_KEPT)
        raise ConflictError(words)


def _finding(row: AnalysisRow, task: TaskEstimate) -> TaskFinding:
    number, choices = task["number"], row["choices"] or []
    return TaskFinding(
        task_id=task["task_id"],
        decided=number is not None or task["text"] is not None,
        value=task["text"] if number is None or number > len(choices) else choices[number - 1],
        model=max(task["posterior"], default=0.0),
        probabilities=task["posterior"],
        different=task["different"],
        consensus=task["consensus"],
    )


CSV_CONTENT_TYPE: Final = "text/csv; charset=utf-8"
_AT_ONCE: Final = 1000  # rows of one statement
_VOLUNTEERS: Final = ("volunteer", "answers", "accuracy", "skill")


async def list_task_lines(analyses: Analyses, row: AnalysisRow) -> AsyncGenerator[bytes, None]:
    """A line for each task: its most probable choice, how probable, and the probability of each choice."""
    choices = row["choices"] or []
    yield _line(["task_id", "value", "model", *(f"probability_{_name(one)}" for one in choices), "consensus"])
    place = Keyset(_AT_ONCE, descending=False)
    while True:
        page = await analyses.tasks(row, place)
        yield b"".join(_line(_cells(each)) for each in page.rows)
        if not page.next:
            return
        place = attrs.evolve(place, after=page.rows[-1]["task_id"])


async def list_volunteer_lines(analyses: Analyses, row: AnalysisRow) -> AsyncGenerator[bytes, None]:
    """A line for each volunteer, the least accurate first."""
    yield _line(_VOLUNTEERS)
    place = Keyset(_AT_ONCE, "accuracy", descending=False)
    while True:
        page = await analyses.volunteers(row, place)
        lines = ([each["volunteer"], each["answers"], each["accuracy"], each["skill"]] for each in page.rows)
        yield b"".join(_line([csv_cell(value) for value in line]) for line in lines)
        if not page.next:
            return
        place = attrs.evolve(place, after=page.rows[-1]["volunteer"])


async def list_item_lines(analyses: Analyses, row: AnalysisRow) -> AsyncGenerator[bytes, None]:
    """A line for each item, the strongest first."""
    yield _line([*ItemEstimate.__annotations__])
    for each in await analyses.items(row):
        yield _line([csv_cell(value) for value in each.values()])


def _cells(task: TaskFinding) -> list[str]:
    value = csv_cell(task["value"]) if task["decided"] else ""
    return [
        str(task["task_id"]),
        value,
        *map(csv_cell, [task["model"], *task["probabilities"], task["consensus"]]),
    ]


def _name(choice: Json) -> str:
    return "null" if choice is None else csv_cell(choice, raw=True)


def _line(cells: Sequence[str]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue().encode()
