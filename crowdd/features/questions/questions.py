"""The questions of a project: their checks, and what a change means for its tasks and answers before it is saved."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import attrs
import orjson

from crowdd.core.records import rights
from crowdd.core.records import statements as record_statements
from crowdd.database.access import Database
from crowdd.features.projects import statements as project_statements
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.questions import statements
from crowdd.features.questions.rows import QuestionVersion
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _, ngettext
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import JsonObject, Values
from crowdd.kinds import answers, questions
from crowdd.kinds.answers import ANSWERS, DERIVED, derived
from crowdd.kinds.project import PROJECT
from crowdd.kinds.questions import QUESTIONS, Problem
from crowdd.kinds.questions.changes import Change, Fit, changes, count_fits
from crowdd.kinds.questions.columns import question_columns
from crowdd.kinds.questions.question_type import Columns, advice
from crowdd.kinds.roles import OWNERS

_OF_ANSWERS: Final = frozenset({"removed", "type", "choices", "options"})
"""Changes by which stored answers may no longer fit."""


def data_page(info: Mapping[str, object]) -> str:
    """Where a draft gets its tasks: files where its questions show some, otherwise tables."""
    return "tasks/media" if any(question_columns(info.get(QUESTIONS)).values()) else "tasks/import"


@attrs.frozen
class Effects:
    """What changed questions mean for the answers of a project.

    ``version`` is that of the new list. ``fits`` are those of the newest ``n_looked_at`` answers. ``compared``: the
    names of the questions by which agreement is measured before and afterwards.
    """

    version: int
    n_answers: int
    n_completed: int
    changes: list[Change]
    fits: list[Fit]
    n_looked_at: int
    compared: tuple[str, str]


@attrs.frozen
class Review:
    """``problems`` prevent saving, ``advice`` does not. ``effects`` is None without answers, or without a change."""

    problems: list[Problem]
    advice: list[Problem]
    effects: Effects | None


NOTHING_FOUND: Final = Review([], [], None)


class QuestionReviews:
    """Looks at lists of questions for the owners of a project. Nothing is stored."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def columns(self, row: ProjectPage, who: Requester) -> Columns:
        """The columns of some tasks of the project, in the order in which they are found."""
        rights.require(who, row["roles"], OWNERS)
        n_tasks, column_rows = await statements.list_filled_columns(self._db, row["id"])
        return Columns(n_tasks, {each["name"]: each["filled"] for each in column_rows})

    async def review(self, row: ProjectPage, document: Any, who: Requester) -> Review:
        """What is wrong with a document, and what it means for tasks and answers."""
        rights.require(who, row["roles"], OWNERS)
        if problems := questions.validate(document):
            return Review(problems, [], None)
        return Review([], advice(document, await self.columns(row, who)), await self._effects(row, document))

    async def _effects(self, row: ProjectPage, document: JsonObject) -> Effects | None:
        before: Any = row["info"].get(QUESTIONS)
        if before is None or before == document or not row["n_task_runs"]:
            return None
        question_changes = changes(before, document)
        names = [change.name for change in question_changes if change.how in _OF_ANSWERS]
        answers = await statements.list_newest_answers(self._db, row["id"], names) if names else []
        after = derived(row["info"], {QUESTIONS: document})
        return Effects(
            version=after["questions_version"],
            n_answers=row["n_task_runs"],
            n_completed=row["n_completed_tasks"],
            changes=question_changes,
            fits=count_fits(document, answers, names),
            n_looked_at=len(answers),
            compared=(derived({}, {QUESTIONS: before})["answer_key"], after["answer_key"]),
        )

    async def versions(self, row: ProjectPage, who: Requester) -> list[QuestionVersion]:
        """The versions that are kept, the newest first."""
        rights.require(who, row["roles"], OWNERS)
        return await statements.list_question_versions(self._db, row["id"])

    async def questions_of(self, row: ProjectPage, version: int, who: Requester) -> JsonObject | None:
        """The list of questions of a version, None when it is not kept."""
        rights.require(who, row["roles"], OWNERS)
        return await statements.find_questions(self._db, row["id"], version)


def complete_questions(before: Values, info: Values) -> Values:
    """``info`` with what follows from its questions, or from its answer fields where it has none.

    ``before`` is ``info`` as it is stored, {} for a new project. Raises InvalidValueError with the first problem of
    questions or fields that are not those of before.
    """
    new_questions = info.get(QUESTIONS)
    if new_questions is None:
        return {**info, **_compared(before, info)}
    if new_questions != before.get(QUESTIONS):
        _require_usable(new_questions)
    return {**info, **derived(before, info)}


def _compared(before: Values, info: Values) -> Values:
    """The answer key of declared fields: that of the first one, None where it stands deeper in the answer.

    {} without fields, and for what was stored under their name without being checked (moved in from PyBossa).
    """
    fields = info.get(ANSWERS)
    if fields is None or (fields == before.get(ANSWERS) and answers.validate(fields)):
        return {}
    if problems := answers.validate(fields):
        raise InvalidValueError(
            _("`info.answers%(path)s`: %(sentence)s", path=problems[0].path, sentence=problems[0].sentence),
            code="invalid_answer_fields",
            hint="docs/projects/answer-fields.md describes the format.",
        )
    path = answers.declared(info)[0].path
    return {"answer_key": path[0] if len(path) == 1 else None}


async def complete_questions_part(tx: Database, project_id: int, stored: Values, part: Values) -> Values:
    """The same for some keys of ``info``. ``stored`` is ``info`` as it was read before the transaction."""
    if QUESTIONS in part:
        await record_statements.lock_row(tx, PROJECT, project_id)
        before = await project_statements.read_info(tx, project_id)
        full = complete_questions(before, {**before, **part})
        return {**part, **{name: full[name] for name in DERIVED if name in full and full[QUESTIONS] is not None}}
    if stored.get(QUESTIONS) is not None:
        return {name: value for name, value in part.items() if name not in DERIVED}
    if part.keys() & {ANSWERS, "answer_key"}:
        await record_statements.lock_row(tx, PROJECT, project_id)
        before = await project_statements.read_info(tx, project_id)
        return {**part, **_compared(before, {**before, **part})}
    return part


def describe_state(info: Values) -> str:
    """A word for what volunteers are shown: questions, their version, and a presenter in their place."""
    return hashlib.sha256(orjson.dumps(shown_info(info), option=orjson.OPT_SORT_KEYS)).hexdigest()[:20]


def shown_info(info: Values) -> Values:
    """The keys of ``info`` that decide what volunteers are shown; None for those that are missing."""
    return {name: info.get(name) for name in (QUESTIONS, "questions_version", "task_presenter")}


def _require_usable(document: object) -> None:
    problems = questions.validate(document)
    if not problems:
        return
    first, others = problems[0], len(problems) - 1
    more = ngettext(" There is one more problem.", " There are %(num)s more problems.", others) if others else ""
    sentence = _("`info.questions%(path)s`: %(sentence)s%(more)s", path=first.path, sentence=first.sentence, more=more)
    raise InvalidValueError(sentence, code="invalid_questions", hint="docs/projects/questions.md describes the format.")
