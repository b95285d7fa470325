"""Analyses of the answers of a project, for its owners: the list, starting one, and what it found."""

from __future__ import annotations

from typing import Final, TypedDict

from crowdd.domain.analyses.catalogue import METHODS, Method, suggested
from crowdd.domain.analyses.question import question_of
from crowdd.domain.analyses.runner import AnalysisRunner
from crowdd.domain.core.background_queue import Queue
from crowdd.domain.tasks.changes import Changes, Effect
from crowdd.errors import NOT_FOUND, ConflictError, InvalidValueError, NotFoundError, UnknownFieldError
from crowdd.languages import _
from crowdd.requester import Requester
from crowdd.storage.analyses import analyses, answers, outcomes
from crowdd.storage.analyses.rows import AnalysisRow, TaskEstimate, VolunteerEstimate
from crowdd.storage.core.keyset import Keyset, KeysetPage
from crowdd.storage.database import Database, Transactions
from crowdd.storage.tasks.review import decisions
from crowdd.values import Json, JsonObject, Values

HANDLER: Final = "analyse"
MAX_KEPT: Final = 20
"""Analyses of a project."""
ANSWERS: Final = ("counted", "all")


class TaskFinding(TypedDict):
    """What an analysis says of a task. ``value`` is the choice, with ``decided`` False if several are equally probable.

    ``probabilities`` are those of ``choices`` of the analysis. ``different``: the result was another one when the
    analysis was done. ``consensus`` is what the result says now.
    """

    task_id: int
    decided: bool
    value: Json
    confidence: float
    probabilities: list[float]
    different: bool
    consensus: Json


class Advice(TypedDict):
    """What helps to choose: all methods, which one suits the project, and why there may be nothing to analyse."""

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
        return await analyses.listed(self._db, project_id)

    async def get(self, who: Requester, project_id: int, analysis_id: int) -> AnalysisRow:
        """One of them."""
        await self._changes.require(self._db, who, project_id)
        row = await analyses.one_of(self._db, project_id, analysis_id)
        if row is None:
            raise NotFoundError(NOT_FOUND, hint=f"The project has no analysis {analysis_id}.")
        return row

    async def advice(self, project_id: int, info: Values) -> Advice:
        """Which methods there are, and which one suits the answers of a project with this ``info``."""
        median = await answers.median_of_volunteers(self._db, project_id)
        n_choices, refusal = 0, ""
        try:
            question = question_of(info)
            n_choices = len(question.choices or ())
        except InvalidValueError as error:
            refusal = error.args[0]
        return Advice(methods=[*METHODS.values()], suggested=suggested(median, n_choices), refusal=refusal)

    async def add(self, who: Requester, project_id: int, body: object) -> AnalysisRow:
        """Starts the analysis that a body asks for: ``method``, and ``answers``, counted or all.

        Raises InvalidValueError; ConflictError while another one runs, and when MAX_KEPT are there.
        """
        await self._changes.require(self._db, who, project_id)
        method, which = _asked(body)
        question_of(await analyses.info_of_project(self._db, project_id) or {})

        async def work(tx: Database) -> int:
            _require_room(*await analyses.lock(tx, project_id))
            parameters = dict(method.parameters)
            analysis_id = await analyses.add(tx, project_id, method.name, which, parameters, who.acting_user)
            item_id = await self._queue.add(tx, HANDLER, {"analysis": analysis_id}, who, project_id)
            await analyses.set_item(tx, analysis_id, item_id)
            return analysis_id

        return await self.get(who, project_id, await self._db.transaction(work))

    async def delete(self, who: Requester, project_id: int, analysis_id: int) -> None:
        """Deletes an analysis with what it found. One that runs ends."""
        row = await self.get(who, project_id, analysis_id)
        if row["queue_item"] is not None and row["state"] in ("waiting", "running"):
            await self._queue.cancel(who, row["queue_item"])
        await outcomes.clear(self._db, project_id, analysis_id)
        await analyses.delete(self._db, project_id, analysis_id)
        await outcomes.clear(self._db, project_id, analysis_id)  # what was being stored meanwhile

    async def apply(self, who: Requester, project_id: int, analysis_id: int, dry_run: bool = False) -> Effect:
        """Has results say what a finished analysis says, where that differs; ``tasks`` of the effect: how many do.

        Raises ConflictError for an analysis that is not done, InvalidValueError without a label to replace.
        """
        row = await self.get(who, project_id, analysis_id)
        if row["state"] != "done":
            raise ConflictError(_("The analysis is not done yet."))
        if not await decisions.choices(self._db, project_id):
            raise InvalidValueError(_("Only results of a label can be replaced. Declare the answer field first."))
        return await self._changes.apply_analysis(who, project_id, analysis_id, dry_run)

    async def tasks(self, row: AnalysisRow, place: Keyset, *, different: bool = False) -> KeysetPage[TaskFinding]:
        """A page of the tasks of an analysis by their ids. ``different``: only those whose result was another one."""
        page = await outcomes.tasks(self._db, row["project_id"], row["id"], place, different=different)
        return KeysetPage([_finding(row, each) for each in page.rows], page.previous, page.next)

    async def volunteers(self, row: AnalysisRow, place: Keyset) -> KeysetPage[VolunteerEstimate]:
        """A page of the volunteers of an analysis by their accuracy."""
        return await outcomes.volunteers(self._db, row["project_id"], row["id"], place)


def _asked(body: object) -> tuple[Method, str]:
    if not isinstance(body, dict):
        raise InvalidValueError("The body is not a JSON object.")
    attributes: JsonObject = body
    for name in attributes:
        if name not in ("method", "answers"):
            raise UnknownFieldError(f"Unknown attribute {name[:100]}. Known attributes: method, answers.")
    wanted, which = attributes.get("method"), attributes.get("answers", "counted")
    if not isinstance(wanted, str) or wanted not in METHODS:
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="method", choices=", ".join(METHODS)))
    if not isinstance(which, str) or which not in ANSWERS:
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="answers", choices=", ".join(ANSWERS)))
    METHODS[wanted].require()
    return METHODS[wanted], which


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
        decided=number is not None,
        value=None if number is None or number > len(choices) else choices[number - 1],
        confidence=max(task["posterior"], default=0.0),
        probabilities=task["posterior"],
        different=task["different"],
        consensus=task["consensus"],
    )
