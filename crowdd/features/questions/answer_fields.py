"""The answer fields of a project: what owners declare, and what the newest answers contain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import attrs

from crowdd.core.records import rights
from crowdd.database.access import Database
from crowdd.features.projects import list_statements as project_list_statements
from crowdd.features.projects.list_statements import NewestAnswer
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds import answers
from crowdd.kinds.answers import ANSWERS, AnswerField, Suggestion
from crowdd.kinds.questions import QUESTIONS
from crowdd.kinds.roles import OWNERS

MAX_EXAMPLES: Final = 3
UNFIT_LOOKED_AT: Final = 100
_MIN_LOOKED_AT: Final = 20  # of fewer answers a single one would be a notice
_MAX_UNFIT: Final = 0.05


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


@attrs.frozen
class Unfit:
    """So many of the newest ``n_looked_at`` answers do not fit the field that decides."""

    n: int
    n_looked_at: int


class AnswerFields:
    """What the answers to the tasks of a project are, for its owners."""

    def __init__(self, db: Database, projects: Projects) -> None:
        self._db, self._projects = db, projects

    async def overview(self, row: ProjectPage, who: Requester) -> AnswerOverview:
        """The declared fields beside what the newest answers contain."""
        rights.require(who, row["roles"], OWNERS)
        newest = await project_list_statements.list_newest_answers(self._db, row["id"])
        declared = answers.declared(row["info"])
        places = {field.path for field in declared}
        suggested_fields = answers.suggest([each["info"] for each in newest])
        return AnswerOverview(
            n_looked_at=len(newest),
            fits=[_fit(field, newest) for field in declared],
            suggestions=[one for one in suggested_fields if answers.parts(one.at) not in places],
            from_questions=row["info"].get(QUESTIONS) is not None,
        )

    async def unfit(self, row: ProjectPage, who: Requester) -> Unfit | None:
        """For owners: more than 5 % of the newest 100 answers do not fit the first field.

        None: fewer do not, or there are fewer than 20 answers.
        Questions may be left out, so an answer to questions without a value is no sign of a fault.
        """
        rights.require(who, row["roles"], OWNERS)
        declared = answers.declared(row["info"])[:1]
        if not declared:
            return None
        newest = await project_list_statements.list_newest_answers(self._db, row["id"], UNFIT_LOOKED_AT)
        return unfit(declared[0], [each["info"] for each in newest], optional=row["info"].get(QUESTIONS) is not None)

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
    fields = info.get(ANSWERS)
    if fields is None or answers.validate(fields):
        return []
    return [fields] if isinstance(fields, dict) else fields


def unfit(field: AnswerField, infos: Sequence[object], *, optional: bool) -> Unfit | None:
    """Whether more than 5 % do not fit; ``optional``: those without a value do not count."""
    looked_at = [info for info in infos if not optional or answers.value_at(info, field.path) is not answers.MISSING]
    n = sum(not answers.fits(field, info) for info in looked_at)
    too_many = len(looked_at) >= _MIN_LOOKED_AT and n > _MAX_UNFIT * len(looked_at)
    return Unfit(n, len(looked_at)) if too_many else None


def _first(field: Values, others: list[Values]) -> list[Values]:
    """The field before the others, with a name that none of them has."""
    taken = {other["name"] for other in others}
    names = [field["name"], *(f"{field['name']} {n}" for n in range(2, answers.MAX_FIELDS + 2))]
    return [{**field, "name": next(name for name in names if name not in taken)}, *others]


def _fit(field: AnswerField, newest: list[NewestAnswer]) -> FieldFit:
    unfit = [each for each in newest if not answers.fits(field, each["info"])]
    return FieldFit(field, len(newest) - len(unfit), unfit[:MAX_EXAMPLES])
