"""What should be there before a project is published: what has to be, what is probably a mistake, and what helps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import attrs

from crowdd.domain.core import rights
from crowdd.domain.projects import project_questions
from crowdd.domain.projects.publishing import effort
from crowdd.kinds.questions import QUESTIONS
from crowdd.kinds.questions.columns import columns_of
from crowdd.kinds.roles import OWNERS
from crowdd.requester import Requester
from crowdd.storage.database import Database
from crowdd.storage.projects import publishing
from crowdd.storage.projects.publishing_rows import ColumnGap, PublishingFacts
from crowdd.storage.projects.rows import ProjectPage
from crowdd.values import Values

Name = Literal["presenter", "tasks", "columns", "tried", "sentence", "picture", "tutorial", "story"]
Level = Literal["must", "doubt", "advice"]


@attrs.frozen
class Check:
    """``must``: without it nothing is published. ``doubt``: probably a mistake. ``advice``: volunteers like it."""

    name: Name
    level: Level
    done: bool


@attrs.frozen
class Prospect:
    """How long it takes with so many ``volunteers`` a day: ``remaining`` answers for ``tasks`` at this pace."""

    volunteers: int
    tasks: int
    remaining: int
    pace: effort.Pace
    time: effort.Duration


@attrs.frozen
class Readiness:
    """The checks in their order, the columns that tasks lack, and how long it takes (None without open tasks)."""

    checks: list[Check]
    gaps: list[ColumnGap]
    prospect: Prospect | None


class PublishingChecks:
    """Reads them in two statements."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def of(
        self, row: ProjectPage, who: Requester, columns: Sequence[str], volunteers: int = effort.USUAL_VOLUNTEERS
    ) -> Readiness:
        """``row`` is a project's row as ``Projects.owned`` gives it. ``columns`` are those that its presenter shows."""
        rights.require(who, row["roles"], OWNERS)
        draft = row["first_published"] is None
        facts = await publishing.facts(self._db, row["id"], draft)
        column_gaps = await publishing.gaps(self._db, row["id"], columns) if columns else []
        gaps = [each for each in column_gaps if each["lacking"]]
        return Readiness(list(checks(row, gaps)), gaps, _prospect(facts, volunteers, draft))


def checks(row: ProjectPage, gaps: Sequence[ColumnGap]) -> Iterator[Check]:
    """The checks of a project; ``gaps`` are the columns that some of its tasks lack."""
    info = row["info"]
    yield Check("presenter", "must", project_questions.asks(info))
    yield Check("tasks", "must", row["n_tasks"] > 0)
    if row["n_tasks"]:
        yield Check("columns", "doubt", not gaps)
    if row["first_published"] is None:
        yield Check("tried", "advice", row["n_task_runs"] > 0)
    yield Check("sentence", "advice", bool(row["description"].strip()))
    yield Check("picture", "advice", bool(info.get("thumbnail_url") or info.get("thumbnail")))
    yield Check("tutorial", "advice", bool(info.get("tutorial") or info.get("guided_tutorial")))
    yield Check("story", "advice", bool(row["long_description"].strip()))


def _prospect(facts: PublishingFacts, volunteers: int, draft: bool) -> Prospect | None:
    if not facts["open_tasks"] or not facts["remaining"]:
        return None
    pace = effort.pace(effort.Seen(facts["days"], facts["answers"], facts["timed"], facts["seconds"], draft))
    days = effort.days_needed(facts["remaining"], facts["open_tasks"], pace.per_day, volunteers)
    return Prospect(volunteers, facts["open_tasks"], facts["remaining"], pace, effort.rounded(days))


def media_columns(info: Values) -> list[str]:
    """The columns of tasks that the media of a project's questions show, each once."""
    document = info.get(QUESTIONS)
    if not isinstance(document, dict):
        return []
    return columns_of([medium.get("source") for step in document["steps"] for medium in step.get("media", ())])
