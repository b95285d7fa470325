"""Decisions of experts about whole answers, of questions of every type: what they begin with, and what they may say.

An expert answers the questions of the project as volunteers do, beginning with what the answers say together.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs
import orjson

from crowdd.core import log_statements
from crowdd.core.records import rights
from crowdd.core.records.records import Records
from crowdd.database.access import Database, Row, Transactions
from crowdd.features.projects import statements as project_statements
from crowdd.features.results.consensus import FieldConsensus, by_field
from crowdd.features.results.rows import Said
from crowdd.features.trust import decision_statements
from crowdd.features.trust.rows import Decided
from crowdd.kernel.errors import InvalidValueError, PreconditionError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Json, Values
from crowdd.kinds.answers import MISSING, AnswerField, declared, fits, number_of, value_at, with_choices
from crowdd.kinds.questions import QUESTIONS
from crowdd.kinds.questions.options import OPINION
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import OWNERS, REVIEWERS

_MAX_ID: Final = 2**63 - 1


def is_decidable(info: Values) -> bool:
    """Whether volunteers of a project answer questions of which one at least has a right answer."""
    asked = not info.get("task_presenter") and info.get(QUESTIONS) is not None
    return asked and any(not field.opinion for field in declared(info))


def has_label(info: Values) -> bool:
    """Whether the first answer field is a label, so that results have classes."""
    first = next(iter(declared(info)), None)
    return first is not None and first.type == "label" and not first.opinion


def is_whole(info: Values) -> bool:
    """Whether there is more to decide than the class of a label."""
    fields = [field for field in declared(info) if not field.opinion]
    return is_decidable(info) and (len(fields) > 1 or fields[0].type != "label")


def questions_to_decide(info: Values) -> Values:
    """``info`` with the questions of which an answer can be right, and opinions on which others depend."""
    document = copy.deepcopy(info[QUESTIONS])
    needed = set(_conditions(document["steps"]))
    for step in document["steps"]:
        asked = step.get("questions", [])
        step["questions"] = [one for one in asked if one.get("kind") != OPINION or one["name"] in needed]
        for one in step["questions"]:
            if one.get("kind") == OPINION:
                one["required"] = False
    return {**info, QUESTIONS: document}


def _conditions(steps: Iterable[Values]) -> Iterator[str]:
    """The names of questions whose answers decide whether others are shown."""
    for step in steps:
        for one in (step, *step.get("questions", [])):
            conditions = one.get("show_if") or []
            yield from (each["question"] for each in ([conditions] if isinstance(conditions, dict) else conditions))


def prefilled(info: Values, said: Said, answers: Sequence[Json]) -> Values:
    """An answer that says what the answers to a task say together.

    What has no consensus is left out where it is a question of its own. What is too long to be stored as a consensus,
    and what is said about single marks, comes from the answer that agrees with most of it.
    """
    fields = declared(info)
    outcomes = list(zip(fields, by_field(fields, said), strict=False))
    names = set(_names(info))
    best = max((one for one in answers if isinstance(one, dict)), key=lambda one: _agreeing(one, outcomes), default={})
    answer = copy.deepcopy({name: value for name, value in best.items() if name in names})
    for field, outcome in outcomes:
        if field.opinion or (outcome["answers"] and not outcome["won"] and len(field.path) == 1):
            answer.pop(field.path[0], None)
        elif outcome["won"] and outcome["short"]:
            _put(answer, field.path, outcome["value"])
    return answer


def _agreeing(answer: Values, outcomes: Iterable[tuple[AnswerField, FieldConsensus]]) -> int:
    return sum(one["won"] and value_at(answer, field.path) == one["value"] for field, one in outcomes)


def _put(answer: Values, path: Sequence[str], value: object) -> None:
    """A value at a question, at a row of it, or as a part of its only mark (``name/0/points``)."""
    name, *rest = path
    before = answer.get(name)
    if not rest:
        answer[name] = value
    elif len(rest) == 1:
        answer[name] = {**(before if isinstance(before, dict) else {}), rest[0]: value}
    elif value is None or value == []:
        answer[name] = value
    else:
        mark = before[0] if isinstance(before, list) and before and isinstance(before[0], dict) else {}
        answer[name] = [{**mark, rest[1]: value}]


def _names(info: Values) -> Iterator[str]:
    return (one["name"] for step in info[QUESTIONS]["steps"] for one in step.get("questions", []))


def checked_answer(info: Values, answer: object) -> Values:
    """What an expert says, with choices as they are declared. Raises InvalidValueError."""
    if not isinstance(answer, dict):
        raise InvalidValueError(_("The answer must be an object with an answer to each question."))
    names, fields = set(_names(info)), [field for field in declared(info) if not field.opinion]
    checked: Values = {name: value for name, value in answer.items() if name in names}
    present = [field for field in fields if value_at(checked, field.path) is not MISSING]
    for field in fields:
        if field.path[0] in checked and not fits(field, checked):
            raise InvalidValueError(_("The answer to “%(question)s” does not fit the question.", question=field.name))
        if field in present and len(field.path) == 1:
            checked[field.path[0]] = _in_order(field, with_choices(field, checked[field.path[0]]))
    if not present:
        raise InvalidValueError(_("Answer at least one question."), code="missing_attribute")
    return checked


def _in_order(field: AnswerField, value: Json) -> Json:
    """Several choices in the order of their declaration, as a consensus has them."""
    if field.type != "labels" or not isinstance(value, list):
        return value
    return sorted(value, key=lambda each: number_of(field.choices or (), each) or 0)


@attrs.frozen
class WholeAnswers:
    """For owners and reviewers."""

    _db: Transactions
    _records: Records
    _notify: Callable[[int], None]

    async def decide(self, who: Requester, result_id: int, answer: object) -> Values:
        """Decides the task of a result that was its last one when the requester saw it, by an answer to all questions.

        Returns the state (decided, same), the last result and its task. Raises PreconditionError for a task that
        somebody else has decided meanwhile, InvalidValueError, NotFoundError, AnonymousError, ForbiddenError.
        """
        row = await self._reviewed(who, result_id)
        info = await project_statements.read_info(self._db, row["project_id"])
        if not is_decidable(info):
            raise InvalidValueError(_("Whole answers can be decided where volunteers answer questions."))
        RESULT.field("info").require_size(answer)
        decided = checked_answer(info, answer)
        return await self._change(who, row, result_id, orjson.dumps(decided).decode())

    async def withdraw(self, who: Requester, result_id: int) -> Values:
        """Has the task of a result say again what its answers say. Reviewers withdraw their own decisions only."""
        row = await self._reviewed(who, result_id)
        return await self._change(who, row, result_id, None)

    async def _reviewed(self, who: Requester, result_id: int) -> Row:
        row = await self._records.find(self._db, RESULT, who, min(result_id, _MAX_ID))
        rights.require(who, row["roles"], REVIEWERS)
        return row

    async def _change(self, who: Requester, row: Row, seen: int, answer: str | None) -> Values:
        project_id, task_id, owns = row["project_id"], row["task_id"], bool(row["roles"] & OWNERS)
        act, user_id = "withdraw_decision" if answer is None else "decide_task", require_person(who)

        async def work(tx: Database) -> Decided:
            done = await decision_statements.change(tx, (project_id, task_id), seen, user_id, answer, owns=owns)
            if done.state in ("decided", "withdrawn"):
                after = {"state": done.state, "result": done.result}
                await log_statements.write_act(
                    tx, who, act, "task", task_id, project_id=project_id, before=None, after=after
                )
            return done

        done = await self._db.transaction(work)
        if done.state == "before":
            words = _("Somebody else has decided this task before you. Nothing was changed.")
            raise PreconditionError(words, code="decided_before")
        if done.state in _REFUSED:
            raise PreconditionError(_REFUSED[done.state], code="result_changed")
        self._notify(project_id)
        return {"state": done.state, "result_id": done.result, "task_id": task_id}


def require_person(who: Requester) -> int:
    """The account that decides. Raises AnonymousError for a key of the server without one."""
    if who.acting_user is None:
        rights.require(who, frozenset(), REVIEWERS)
    assert who.acting_user is not None
    return who.acting_user


_REFUSED: Final[Mapping[str, str]] = {
    "changed": _("The answers to this task have changed meanwhile. Look at them again."),
    "open": _("The task is no longer complete."),
    "class": _("Answer the first question with one of its choices."),
    "opinion": _("A second opinion is wanted of this task. Choose one of the answers."),
    "none": _("No expert has decided this task."),
}
