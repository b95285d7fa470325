"""The answer fields of a project: what owners declare, and what the newest answers contain."""

from __future__ import annotations

from typing import Any, Final

import attrs

from crowdd.domain.core import rights
from crowdd.domain.projects.projects import Projects
from crowdd.kinds import answers
from crowdd.kinds.answers import ANSWERS, AnswerField, Suggestion
from crowdd.kinds.questions import QUESTIONS
from crowdd.kinds.roles import OWNERS
from crowdd.requester import Requester
from crowdd.storage.database import Database
from crowdd.storage.projects import newest_answers
from crowdd.storage.projects.newest_answers import NewestAnswer
from crowdd.storage.projects.rows import ProjectPage
from crowdd.values import Values

MAX_EXAMPLES: Final = 3


@attrs.frozen
class FieldFit:
    """How many of the answers that were looked at fit a field, and some that do not."""

    field: AnswerField
    n_fitting: int
    examples: list[NewestAnswer]


@attrs.frozen
class AnswerOverview:
    """``fits`` are those of the declared fields, in their order; ``suggestions`` are places with other values.

    ``from_questions``: the fields are those of the project's questions, and change with them.
    """

    n_looked_at: int
    fits: list[FieldFit]
    suggestions: list[Suggestion]
    from_questions: bool


class AnswerFields:
    """What the answers to the tasks of a project are, for its owners."""

    def __init__(self, db: Database, projects: Projects) -> None:
        self._db, self._projects = db, projects

    async def overview(self, row: ProjectPage, who: Requester) -> AnswerOverview:
        """The declared fields beside what the newest answers contain."""
        rights.require(who, row["roles"], OWNERS)
        newest = await newest_answers.newest(self._db, row["id"])
        declared = answers.declared(row["info"])
        places = {field.path for field in declared}
        found = answers.suggest([each["info"] for each in newest])
        return AnswerOverview(
            n_looked_at=len(newest),
            fits=[_fit(field, newest) for field in declared],
            suggestions=[one for one in found if answers.parts(one.at) not in places],
            from_questions=row["info"].get(QUESTIONS) is not None,
        )

    async def save(self, row: ProjectPage, fields: Any, who: Requester) -> None:
        """Declares fields in the place of those that are declared; none: []. Raises InvalidValueError."""
        await self._projects.tell(row, {ANSWERS: fields or None}, who)

    async def use(self, row: ProjectPage, pointer: str, who: Requester) -> bool:
        """Declares what the newest answers have at a place, before the other fields. False: nothing there."""
        overview = await self.overview(row, who)
        chosen = next((one for one in overview.suggestions if one.at == pointer), None)
        if chosen is None:
            return False
        await self.save(row, _first(chosen.declaration(), declarations(row["info"])), who)
        return True


def declarations(info: Values) -> list[Values]:
    """The fields as they are declared; [] if none are, or what is no list of fields."""
    found = info.get(ANSWERS)
    if found is None or answers.validate(found):
        return []
    return [found] if isinstance(found, dict) else found


def _first(field: Values, others: list[Values]) -> list[Values]:
    """The field before the others, with a name that none of them has."""
    taken = {other["name"] for other in others}
    names = [field["name"], *(f"{field['name']} {n}" for n in range(2, answers.MAX_FIELDS + 2))]
    return [{**field, "name": next(name for name in names if name not in taken)}, *others]


def _fit(field: AnswerField, newest: list[NewestAnswer]) -> FieldFit:
    unfit = [each for each in newest if not answers.fits(field, each["info"])]
    return FieldFit(field, len(newest) - len(unfit), unfit[:MAX_EXAMPLES])
