"""Gold tasks of a project, and what owners say of one, for API and pages alike.

Owners name the task, the answers that are right, how they are compared, and a message. Whether an answer is right is
decided in the database (``is_right`` in definitions/gold/33_gold.sql) and, for marks and texts, in
``crowdd.features.results.gold_comparison``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs
from twisted.logger import Logger

from crowdd.core import log_statements
from crowdd.database.access import Database, Transactions
from crowdd.features.results.comparing_process import ComparingProcess
from crowdd.features.tasks import contributions
from crowdd.features.tasks.changes import Changes
from crowdd.features.trust import gold_statements
from crowdd.features.trust.gold_statements import GoldFigures, GoldTask, GoldValue
from crowdd.kernel.errors import NOT_FOUND, ForbiddenError, InvalidValueError, NotFoundError, UnknownFieldError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Json, Values

log = Logger()


RULES = ("equal", "set", "number", "text", "boxes", "points", "polygon", "spans")
MAX_ANSWERS = 20
MAX_MESSAGE = 1000  # characters
_KEYS = ("task_id", "answer", "answers", "rule", "message")


@attrs.frozen
class Description:
    """A gold task as an owner describes it. ``answers`` is None where the consensus of the task is right."""

    task_id: int
    answers: list[Json] | None
    rule: Values | None
    message: str | None


def parse_description(body: object) -> Description:
    """The description that a body is. Raises InvalidValueError, UnknownFieldError."""
    if not isinstance(body, dict):
        raise InvalidValueError(_("The body is not a JSON object."))
    for name in body:
        if name not in _KEYS:
            raise UnknownFieldError(f"Unknown attribute {name[:100]}. Known attributes: {', '.join(_KEYS)}.")
    task_id = body.get("task_id")
    if type(task_id) is not int or not 0 < task_id < 2**63:
        raise InvalidValueError("`task_id` must be the id of a task.")
    return Description(
        task_id,
        _answers(body),
        checked_rule(body.get("rule")),
        _checked_message(body.get("message")),
    )


def _answers(body: Mapping[str, Json]) -> list[Json] | None:
    if "answer" in body and "answers" in body:
        raise InvalidValueError("Send either answer or answers.")
    if "answer" in body:
        return [body["answer"]]
    answers = body.get("answers")
    if answers is None:
        return None
    if not isinstance(answers, list) or not 1 <= len(answers) <= MAX_ANSWERS:
        raise InvalidValueError(f"`answers` must be an array of 1 to {MAX_ANSWERS} values.")
    return answers


def _checked_message(message: object) -> str | None:
    if message is not None and (not isinstance(message, str) or len(message) > MAX_MESSAGE or "\0" in message):
        raise InvalidValueError(f"`message` must be a string of at most {MAX_MESSAGE} characters.")
    return message or None


def checked_rule(rule: object) -> Values | None:
    """How answers are compared: ``type``, perhaps ``threshold`` and ``tolerance``; None: by the answer field."""
    if rule is None:
        return None
    if not isinstance(rule, dict) or rule.get("type") not in RULES or rule.keys() - {"type", "threshold", "tolerance"}:
        raise InvalidValueError(f"`rule` must be an object whose `type` is one of {', '.join(RULES)}.")
    for name, maximum in (("threshold", 1), ("tolerance", 1e12)):
        value = rule.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= maximum:
            raise InvalidValueError(f"`{name}` of the rule must be a number from 0 to {maximum:g}.")
    return dict(rule)


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

    async def make(self, who: Requester, project_id: int, body: object) -> tuple[GoldTask, Warnings]:
        """Makes a task a gold task (``descriptions``). Without answers the consensus of the task is right."""
        description = parse_description(body)

        async def work(tx: Database) -> None:
            await self._changes.require(tx, who, project_id)
            _require_made(await self._made(tx, who, project_id, description), description.task_id)
            await self._note(tx, who, "make_gold", project_id, description.task_id)

        await self._db.transaction(work)
        self._notify(project_id)
        return await self._one(project_id, description.task_id), await self.warnings(project_id, [description.task_id])

    async def make_many(self, who: Requester, project_id: int, task_ids: Sequence[int]) -> tuple[int, int, Warnings]:
        """Makes finished tasks gold tasks, each with its consensus; how many, and how many were left out."""
        if len(task_ids) > MAX_AT_ONCE:
            raise InvalidValueError(_("Choose at most %(maximum)s tasks at once.", maximum=MAX_AT_ONCE))

        async def work(tx: Database) -> int:
            await self._changes.require(tx, who, project_id)
            made = 0
            for task_id in sorted(set(task_ids)):
                state = await self._made(tx, who, project_id, Description(task_id, None, None, None))
                made += state == "made"
            await log_statements.write_act(
                tx, who, "make_gold", "project", project_id, project_id=project_id, after={"tasks": made}
            )
            return made

        made = await self._db.transaction(work)
        self._notify(project_id)
        return made, len(set(task_ids)) - made, await self.warnings(project_id, task_ids)

    async def _made(self, tx: Database, who: Requester, project_id: int, description: Description) -> str:
        answers = description.answers
        if answers is None:
            consensus_answer = await gold_statements.find_consensus(tx, project_id, description.task_id)
            if consensus_answer is None:
                return "no answer"
            answers = [consensus_answer]
        await contributions.require_right_answer_size(tx, project_id, answers, description.rule)
        return await gold_statements.make_gold(
            tx, project_id, description.task_id, answers, description.rule, description.message, who.user_id
        )

    async def change(self, who: Requester, project_id: int, body: object) -> GoldTask:
        """Changes what is right about a gold task; its answers are compared again."""
        description = parse_description(body)
        if description.answers is None:
            raise InvalidValueError("`answers` is missing.", code="missing_attribute")

        async def work(tx: Database) -> None:
            await self._changes.require(tx, who, project_id)
            await contributions.require_right_answer_size(tx, project_id, description.answers or [], description.rule)
            if not await gold_statements.change_gold(
                tx, project_id, description.task_id, description.answers, description.rule, description.message
            ):
                raise _none(description.task_id)
            await self._note(tx, who, "change_gold", project_id, description.task_id)

        await self._db.transaction(work)
        return await self._one(project_id, description.task_id)

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

        An answer that cannot be compared in the time that there is for one is wrong.
        """
        compared = await gold_statements.compare_again(self._db, maximum)
        pending = await gold_statements.list_pending(self._db, maximum)
        questions = [{name: one[name] for name in ("rule", "answers", "value")} for one in pending]
        for one, right in zip(pending, await self._process.judged(questions), strict=True):
            if isinstance(right, str):
                log.warn(
                    "could not compare an answer to a gold task: project={project} answer={answer} error={error}",
                    project=one["project_id"],
                    answer=one["run"],
                    error=right,
                )
            done = await gold_statements.decide_pending(
                self._db, one["project_id"], one["run"], one["info"], right=right is True
            )
            compared += done
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
