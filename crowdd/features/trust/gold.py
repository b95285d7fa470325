"""Gold tasks of a project, and what owners say of one, for API and pages alike.

Owners name the task, the answers that are right, how they are compared, and a message. Whether an answer is right is
decided in the database (``is_right`` in definitions/gold/33_gold.sql) and, for marks and texts, in
``crowdd.features.results.gold_comparison``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
from twisted.logger import Logger

from crowdd.core import log_statements
from crowdd.database.access import Database, Transactions
from crowdd.features.results.comparing_process import ComparingProcess, seconds_of_try, seconds_to_retry
from crowdd.features.tasks import contributions
from crowdd.features.tasks.changes import Changes
from crowdd.features.trust import gold_statements
from crowdd.features.trust.gold_statements import GoldFigures, GoldTask, GoldValue
from crowdd.kernel.errors import NOT_FOUND, ForbiddenError, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Json, Values
from crowdd.kinds.body import Body, Listed, Nested, key
from crowdd.kinds.types import Choice, Integer, Number, Text
from crowdd.kinds.types import Json as AnyJson

log = Logger()


RULES = ("equal", "set", "number", "text", "boxes", "points", "polygon", "spans")
MAX_ANSWERS = 20
MAX_MESSAGE = 1000  # characters


class RuleBody(Body):
    """How answers are compared."""

    type: str = key(Choice(choices=RULES))
    threshold: float | None = key(Number(minimum=0, maximum=1), default=None)
    tolerance: float | None = key(Number(minimum=0, maximum=1e12), default=None)


class GoldBody(Body, at_most_one=("answer", "answers")):
    """A gold task as an owner describes it. Without an answer, the consensus of the task is right."""

    task_id: int = key(Integer(minimum=1), "Id of the task.")
    answer: Any = key(
        AnyJson(),
        "The right value of the first answer field. Default: the consensus of the task.",
        default=...,
        null=True,
    )
    answers: list[Json] | None = key(
        Listed(of=AnyJson(), minimum=1, maximum=MAX_ANSWERS), "Several that are.", default=None
    )
    rule: RuleBody | None = key(Nested(of=RuleBody), default=None, null=True)
    message: str | None = key(Text(maximum=MAX_MESSAGE), default=None, null=True)

    @property
    def right_answers(self) -> list[Json] | None:
        """The right answers; None for the consensus of the task."""
        return self.answers if self.answer is ... else [self.answer]

    @property
    def stored_rule(self) -> Values | None:
        """The rule as it is stored; None: by the answer field."""
        return (
            None if self.rule is None else {name: value for name, value in vars(self.rule).items() if value is not None}
        )


class GoldChangeBody(GoldBody, exactly_one=("answer", "answers")):
    """What is right about a gold task from now on."""


MAX_LISTED = 1000
MAX_AT_ONCE = 1000
_UNORDERED = ("default", "random")  # schedulers that hand out tasks in random order while there are gold tasks
_MAX_VALUES = 50


@attrs.frozen
class Warnings:
    """By what volunteers could recognize gold tasks: ``keys`` of ``info`` that others lack, the scheduler's order."""

    keys: list[str]
    ordered: bool


@attrs.frozen
class Overview:
    """Numbers of a project's gold tasks, and how many there are of each right answer."""

    figures: GoldFigures
    values: list[GoldValue]

    @property
    def ordered(self) -> bool:
        """Whether tasks come in an order that gold tasks stand out of."""
        return _is_ordered(self.figures)


class Gold:
    """Makes, lists, changes and ends gold tasks."""

    def __init__(
        self, db: Transactions, notify: Callable[[int], None], changes: Changes, process: ComparingProcess
    ) -> None:
        """``process`` compares answers where PostgreSQL cannot."""
        self._db, self._notify, self._changes, self._process = db, notify, changes, process

    async def listed(
        self, who: Requester, project_id: int, after: int = 0, maximum: int = MAX_LISTED
    ) -> list[GoldTask]:
        """Gold tasks by the id of the task, those behind ``after``."""
        await self._changes.require(self._db, who, project_id)
        return await gold_statements.list_gold(self._db, project_id, after, maximum)

    async def find(self, who: Requester, project_id: int, task_id: int) -> GoldTask | None:
        """A gold task; None: it is none."""
        await self._changes.require(self._db, who, project_id)
        return await gold_statements.find_gold(self._db, project_id, task_id)

    async def overview(self, who: Requester, project_id: int) -> Overview:
        """What the page of gold tasks says about all of them."""
        await self._changes.require(self._db, who, project_id)
        figures = await gold_statements.read_gold_figures(self._db, project_id)
        return Overview(figures, await gold_statements.count_gold_by_value(self._db, project_id, _MAX_VALUES))

    async def consensus(self, who: Requester, project_id: int, task_id: int) -> Json:
        """What the answers of a task say, to begin with; None where they say nothing."""
        await self._changes.require(self._db, who, project_id)
        return await gold_statements.find_consensus(self._db, project_id, task_id)

    async def make(self, who: Requester, project_id: int, body: GoldBody) -> tuple[GoldTask, Warnings]:
        """Makes a task a gold task."""

        async def work(tx: Database) -> None:
            await self._changes.require(tx, who, project_id)
            _require_made(await self._made(tx, who, project_id, body), body.task_id)
            await self._note(tx, who, "make_gold", project_id, body.task_id)

        await self._db.transaction(work)
        self._notify(project_id)
        return await self._one(project_id, body.task_id), await self.warnings(project_id, [body.task_id])

    async def make_many(self, who: Requester, project_id: int, task_ids: Sequence[int]) -> tuple[int, int, Warnings]:
        """Makes finished tasks gold tasks, each with its consensus; how many, and how many were left out."""
        if len(task_ids) > MAX_AT_ONCE:
            raise InvalidValueError(_("Choose at most %(maximum)s tasks at once.", maximum=MAX_AT_ONCE))

        async def work(tx: Database) -> int:
            await self._changes.require(tx, who, project_id)
            made = 0
            for task_id in sorted(set(task_ids)):
                state = await self._made(tx, who, project_id, GoldBody(task_id=task_id))
                made += state == "made"
            await log_statements.write_act(
                tx, who, "make_gold", "project", project_id, project_id=project_id, after={"tasks": made}
            )
            return made

        made = await self._db.transaction(work)
        self._notify(project_id)
        return made, len(set(task_ids)) - made, await self.warnings(project_id, task_ids)

    async def _made(self, tx: Database, who: Requester, project_id: int, body: GoldBody) -> str:
        answers, rule = body.right_answers, body.stored_rule
        if answers is None:
            consensus_answer = await gold_statements.find_consensus(tx, project_id, body.task_id)
            if consensus_answer is None:
                return "no answer"
            answers = [consensus_answer]
        await contributions.require_right_answer_size(tx, project_id, answers, rule)
        return await gold_statements.make_gold(
            tx, project_id, body.task_id, answers, rule, body.message or None, who.user_id
        )

    async def change(self, who: Requester, project_id: int, body: GoldChangeBody) -> GoldTask:
        """Changes what is right about a gold task; its answers are compared again."""
        answers, rule = body.right_answers or [], body.stored_rule

        async def work(tx: Database) -> None:
            await self._changes.require(tx, who, project_id)
            await contributions.require_right_answer_size(tx, project_id, answers, rule)
            if not await gold_statements.change_gold(tx, project_id, body.task_id, answers, rule, body.message or None):
                raise _none(body.task_id)
            await self._note(tx, who, "change_gold", project_id, body.task_id)

        await self._db.transaction(work)
        return await self._one(project_id, body.task_id)

    async def end(self, who: Requester, project_id: int, task_id: int) -> None:
        """Ends a gold task: it is put back, or complete as it was before."""

        async def work(tx: Database) -> None:
            await self._changes.require(tx, who, project_id)
            if not await gold_statements.end_gold(tx, project_id, task_id):
                raise _none(task_id)
            await self._note(tx, who, "end_gold", project_id, task_id)

        await self._db.transaction(work)
        self._notify(project_id)

    async def compare_pending(self, maximum: int) -> int:
        """Compares answers that take a library, and all of gold tasks whose project has another label; how many.

        An answer that cannot be compared is neither right nor wrong. It is tried again, with more time.
        """
        compared = await gold_statements.compare_again(self._db, maximum)
        pending = await gold_statements.list_pending(self._db, maximum)
        questions = [
            {"seconds": seconds_of_try(one["tries"]), **{name: one[name] for name in ("rule", "answers", "value")}}
            for one in pending
        ]
        for one, right in zip(pending, await self._process.judged(questions), strict=True):
            project_id, run, info = one["project_id"], one["run"], one["info"]
            if isinstance(right, bool):
                compared += await gold_statements.decide_pending(self._db, project_id, run, info, right=right)
                continue
            log.warn(
                "could not compare an answer to a gold task: project={project} answer={answer} error={error}",
                project=project_id,
                answer=run,
                error=right,
            )
            await gold_statements.note_failure(self._db, project_id, run, info, right, seconds_to_retry(one["tries"]))
        return compared

    async def warnings(self, project_id: int, task_ids: Sequence[int]) -> Warnings:
        """By what volunteers could recognise these gold tasks."""
        figures = await gold_statements.read_gold_figures(self._db, project_id)
        keys = await gold_statements.list_telling_keys(self._db, project_id, task_ids)
        return Warnings(keys, _is_ordered(figures))

    async def _one(self, project_id: int, task_id: int) -> GoldTask:
        gold_task = await gold_statements.find_gold(self._db, project_id, task_id)
        if gold_task is None:
            raise _none(task_id)
        return gold_task

    async def _note(self, tx: Database, who: Requester, action: str, project_id: int, task_id: int) -> None:
        await log_statements.write_act(tx, who, action, "task", task_id, project_id=project_id)


def _is_ordered(figures: GoldFigures) -> bool:
    return figures["sched"] not in _UNORDERED


def _require_made(state: str, task_id: int) -> None:
    """Raises the error for a state of ``make_gold``, or for a task without an answer that could be right."""
    if state == "no answer":
        words = _("Give the right answer: the answers to task %(number)s do not agree.", number=task_id)
        raise InvalidValueError(words, code="no_right_answer")
    if state == "exists":
        raise ForbiddenError(_("Task %(number)s is a gold task already.", number=task_id), code="gold_exists")
    if state == "no task":
        raise NotFoundError(NOT_FOUND, hint=f"Task {task_id} does not exist in this project.")


def _none(task_id: int) -> NotFoundError:
    return NotFoundError(NOT_FOUND, hint=f"Task {task_id} is not a gold task of this project.")
