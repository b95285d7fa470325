"""The checks before a project is published, and how long volunteers will need for its answers.

A check is required, warns of a probable mistake, or helps. The time is for projects without enough days to tell from.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, Literal

import attrs

from crowdd.core.records import rights
from crowdd.database.access import Database
from crowdd.features.gallery.gallery import Gallery
from crowdd.features.projects import list_statements as project_list_statements
from crowdd.features.projects.rows import ColumnGap, ProjectPage, PublishingFacts
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.questions import QUESTIONS
from crowdd.kinds.questions.columns import columns_of
from crowdd.kinds.questions.suggested import is_suggestion, suggesting, suggestion_schema, usable
from crowdd.kinds.questions.validation import asks
from crowdd.kinds.roles import OWNERS

ASSUMED_SECONDS: Final = 30
"""An answer takes so long as long as nobody gave one."""
MINUTES_A_DAY: Final = 10
"""So long a volunteer is assumed to stay on a day."""
USUAL_VOLUNTEERS: Final = 20
MAX_VOLUNTEERS: Final = 100_000
MIN_DAYS: Final = 5
"""Days of single volunteers from which their pace is taken; with fewer, it is that of the first one or two."""
_MIN_SECONDS, _MAX_SECONDS = 1.0, 3600.0  # seconds of an answer

Source = Literal["days", "answers", "trials", "assumed"]
Unit = Literal["hours", "days", "weeks", "months", "years"]
# Each with its length, and up to what it is used, both in days.
_UNITS: Final[tuple[tuple[Unit, float, float], ...]] = (
    ("hours", 1 / 24, 1.0),
    ("days", 1.0, 14.0),
    ("weeks", 7.0, 63.0),
    ("months", 365.25 / 12, 730.5),
    ("years", 365.25, math.inf),
)


@attrs.frozen
class Seen:
    """What was seen of a project.

    Volunteers gave ``answers`` on ``days``, a day for each of them. An answer took ``seconds``, the median of ``timed``
    answers. ``trial``: these were trials.
    """

    days: int
    answers: int
    timed: int
    seconds: float | None
    trial: bool


@attrs.frozen
class Pace:
    """How many answers a volunteer gives on a day, and from what that was taken: ``n`` days or answers."""

    per_day: float
    source: Source
    n: int = 0
    seconds: float = ASSUMED_SECONDS


@attrs.frozen
class Duration:
    """A rounded time. ``count`` is 0 for less than one hour."""

    count: int
    unit: Unit


def estimate_pace(seen: Seen) -> Pace:
    """The pace of a volunteer: that of the last days, else from how long answers took, else an assumption."""
    if not seen.trial and seen.days >= MIN_DAYS and seen.answers > 0:
        return Pace(seen.answers / seen.days, "days", seen.days)
    if seen.seconds is None or not seen.timed:
        return Pace(MINUTES_A_DAY * 60 / ASSUMED_SECONDS, "assumed")
    seconds = min(max(seen.seconds, _MIN_SECONDS), _MAX_SECONDS)
    return Pace(MINUTES_A_DAY * 60 / seconds, "trials" if seen.trial else "answers", seen.timed, seconds)


def days_needed(answers: int, tasks: int, per_day: float, volunteers: int) -> float:
    """Days until ``answers`` have come for ``tasks`` from so many volunteers a day, each giving ``per_day``.

    A volunteer answers a task once, so nobody gives more answers than there are tasks.
    """
    if answers <= 0 or tasks <= 0:
        return 0.0
    return answers / (volunteers * min(per_day, tasks))


def round_days(days: float) -> Duration:
    """A time in the unit that people would use, rounded up: a promise that is broken is worse than none."""
    if days * 24 < 1:
        return Duration(0, "hours")
    unit, length = next((unit, length) for unit, length, until in _UNITS if days < until)
    return Duration(math.ceil(days / length), unit)


Name = Literal["presenter", "tasks", "columns", "suggestions", "tried", "sentence", "picture", "tutorial", "story"]
Level = Literal["must", "doubt", "advice"]


@attrs.frozen
class Check:
    """``must``: without it nothing is published. ``doubt``: probably a mistake. ``advice``: volunteers like it."""

    name: Name
    level: Level
    done: bool


@attrs.frozen
class Unfit:
    """How many of ``tasks`` have something in a column that cannot be a suggestion for a question."""

    question: str
    column: str
    unfit: int
    tasks: int


@attrs.frozen
class Prospect:
    """How long it takes with so many ``volunteers`` a day: ``remaining`` answers for ``tasks`` at this pace."""

    volunteers: int
    tasks: int
    remaining: int
    pace: Pace
    time: Duration


@attrs.frozen
class Readiness:
    """The checks in their order, the columns that tasks lack, and how long it takes (None without open tasks).

    ``unfit``: the suggestions that are not shown, because they do not fit.
    """

    checks: list[Check]
    gaps: list[ColumnGap]
    unfit: list[Unfit]
    prospect: Prospect | None


class PublishingChecks:
    """Reads them in two statements, and in a third one where questions have suggestions."""

    def __init__(self, db: Database, worker_thread: WorkerThread, gallery: Gallery) -> None:
        self._db, self._worker_thread, self._gallery = db, worker_thread, gallery

    async def of(
        self,
        row: ProjectPage,
        who: Requester,
        columns: Sequence[str],
        volunteers: int = USUAL_VOLUNTEERS,
    ) -> Readiness:
        """``row`` is a project's row as ``Projects.owned`` gives it. ``columns`` are those that its presenter shows."""
        rights.require(who, row["roles"], OWNERS)
        draft = row["first_published"] is None
        facts = await project_list_statements.read_publishing_facts(self._db, row["id"], draft)
        column_gaps = await project_list_statements.list_column_gaps(self._db, row["id"], columns) if columns else []
        gaps = [each for each in column_gaps if each["lacking"]]
        suggested = [each for each in suggesting(row["info"].get(QUESTIONS)) if "column" in each["suggest"]]
        unfit = await self._unfit(row["id"], suggested) if suggested else None
        checks = list(list_checks(row, gaps, unfit, borrowed=self._is_borrowed(row)))
        return Readiness(checks, gaps, unfit or [], _prospect(facts, volunteers, draft))

    def _is_borrowed(self, row: ProjectPage) -> bool:
        """Whether the sentence of a project is still that of the template from which it was made."""
        template = self._gallery.shipped().get(str(row["info"].get("template")))
        if template is None:
            return False
        sentences = template.card.description
        return row["description"] in ([sentences] if isinstance(sentences, str) else sentences.values())

    async def _unfit(self, project_id: int, questions: Sequence[Values]) -> list[Unfit]:
        columns = sorted({question["suggest"]["column"] for question in questions})
        tasks = await project_list_statements.list_column_values(self._db, project_id, columns)
        return await self._worker_thread.do_soon(_count_unfit, questions, [task["info"] for task in tasks])


def _count_unfit(questions: Sequence[Values], tasks: Sequence[Values]) -> list[Unfit]:
    """For each question whose suggestions do not fit in some tasks."""
    counted = []
    for question in questions:
        column, schema = question["suggest"]["column"], suggestion_schema(question)
        column_values = [task[column] for task in tasks if is_suggestion(task.get(column))]
        n_unfit = sum(usable(schema, value) is None for value in column_values)
        counted.append(Unfit(question["name"], column, n_unfit, len(tasks)))
    return [one for one in counted if one.unfit]


def list_checks(
    row: ProjectPage, gaps: Sequence[ColumnGap], unfit: Sequence[Unfit] | None = None, *, borrowed: bool = False
) -> Iterator[Check]:
    """The checks of a project; ``gaps`` are columns that some of its tasks lack, ``unfit`` None without suggestions.

    ``borrowed``: its sentence is that of a template.
    """
    info = row["info"]
    yield Check("presenter", "must", asks(info))
    yield Check("tasks", "must", row["n_tasks"] > 0)
    if row["n_tasks"]:
        yield Check("columns", "doubt", not gaps)
    if row["n_tasks"] and unfit is not None:
        yield Check("suggestions", "doubt", not unfit)
    if row["first_published"] is None:
        yield Check("tried", "advice", row["n_task_runs"] > 0)
    yield Check("sentence", "advice", bool(row["description"].strip()) and not borrowed)
    yield Check("picture", "advice", bool(info.get("thumbnail_url") or info.get("thumbnail")))
    yield Check("tutorial", "advice", bool(info.get("tutorial") or info.get("guided_tutorial")))
    yield Check("story", "advice", bool(row["long_description"].strip()))


def _prospect(facts: PublishingFacts, volunteers: int, draft: bool) -> Prospect | None:
    if not facts["open_tasks"] or not facts["remaining"]:
        return None
    pace = estimate_pace(Seen(facts["days"], facts["answers"], facts["timed"], facts["seconds"], draft))
    days = days_needed(facts["remaining"], facts["open_tasks"], pace.per_day, volunteers)
    return Prospect(volunteers, facts["open_tasks"], facts["remaining"], pace, round_days(days))


def media_columns(info: Values) -> list[str]:
    """The columns of tasks that the media of a project's questions show, each once."""
    document = info.get(QUESTIONS)
    if not isinstance(document, dict):
        return []
    return columns_of([medium.get("source") for step in document["steps"] for medium in step.get("media", ())])
