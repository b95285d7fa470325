"""What a list of questions means for the tasks and the answers that a project has, before it is saved."""

from __future__ import annotations

from typing import Any, Final

import attrs

from crowdd.domain.core import rights
from crowdd.kinds import questions
from crowdd.kinds.answers import derived
from crowdd.kinds.questions import QUESTIONS, Problem
from crowdd.kinds.questions.advice import Columns, advice
from crowdd.kinds.questions.changes import Change, Fit, changes, count_fits
from crowdd.kinds.roles import OWNERS
from crowdd.requester import Requester
from crowdd.storage.database import Database
from crowdd.storage.projects.rows import ProjectPage
from crowdd.storage.projects.versions import question_versions
from crowdd.storage.projects.versions.question_rows import QuestionVersion
from crowdd.values import JsonObject

_OF_ANSWERS: Final = frozenset({"removed", "type", "choices", "options"})
"""Changes by which stored answers may no longer fit."""


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
        n_tasks, column_rows = await question_versions.columns(self._db, row["id"])
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
        answers = await question_versions.newest_answers(self._db, row["id"], names) if names else []
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
        return await question_versions.versions(self._db, row["id"])

    async def questions_of(self, row: ProjectPage, version: int, who: Requester) -> JsonObject | None:
        """The list of questions of a version, None when it is not kept."""
        rights.require(who, row["roles"], OWNERS)
        return await question_versions.questions_of(self._db, row["id"], version)
