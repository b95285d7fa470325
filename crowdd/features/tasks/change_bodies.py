"""Bodies of changes of many tasks, for API, pages and command line alike."""

from __future__ import annotations

from typing import Final

import attrs

from crowdd.features.tasks.task_list import MAX_NAMED
from crowdd.kernel.values import Values
from crowdd.kinds.body import Body, Listed, Nested, key
from crowdd.kinds.questions.suggest import MAX_MODEL
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN
from crowdd.kinds.types import Choice, Integer, Number, Text

REASONS = ("retired", "cancelled")
_ID = Integer(minimum=1)
MAX_NOTE = 1000  # characters
_NOTE = Text(maximum=MAX_NOTE)
CODE = Text(maximum=100, minimum=1)  # of a volunteer, in their answers


class TasksBody(Body):
    """Tasks of a project."""

    task_ids: list[int] | None = key(
        Listed(of=_ID, maximum=MAX_NAMED),
        "Ids of the tasks (default: all tasks of the project).",
        default=None,
        null=True,
    )

    @property
    def chosen(self) -> list[int] | None:
        """The tasks in the order of their ids, each once; None for all."""
        return None if self.task_ids is None else sorted({*self.task_ids})


class RedundancyBody(TasksBody):
    """How many answers tasks need."""

    n_answers: int = key(TASK.field("n_answers"))


class PriorityBody(TasksBody):
    """The priority of tasks."""

    priority_0: float = key(TASK.field("priority_0"))


class QuestionBody(Body):
    """A question that several models answer."""

    question: str = key(Text(maximum=100, minimum=1), "Name of a question in predictions.")


class PredictionsBody(QuestionBody):
    """What one model predicts."""

    model: str = key(Text(maximum=MAX_MODEL, minimum=1), "Name of the model.")


ORDERS: Final = ("uncertain", "disagreement", "diverse", "column")
_UNNAMED: Final = {"question": "", "model": "", "column": ""}


class OrderBody(TasksBody, exactly_one=ORDERS):
    """By what open tasks are ordered."""

    uncertain: PredictionsBody | None = key(
        Nested(of=PredictionsBody), "First what the model is least sure of.", default=None
    )
    disagreement: QuestionBody | None = key(Nested(of=QuestionBody), "First where models disagree most.", default=None)
    diverse: PredictionsBody | None = key(
        Nested(of=PredictionsBody), "Each predicted value as often as any other.", default=None
    )
    column: str | None = key(
        Text(maximum=200, minimum=1), "First the highest numbers under this key of info.", default=None
    )
    share: float = key(
        Number(minimum=0, maximum=1), "Share of the tasks whose place is left to chance (default: 0.1).", default=0.1
    )
    seed: int = key(Integer(minimum=0, maximum=2**53), "Another number draws other tasks (default: 0).", default=0)

    def rule(self) -> Values:
        """As functions of the database take it (41_order.sql)."""
        by = next(name for name in ORDERS if getattr(self, name) is not None)
        names = {by: self.column} if by == "column" else attrs.asdict(getattr(self, by))
        return {**_UNNAMED, "by": by, **names, "share": self.share, "seed": self.seed}


class RetirementBody(TasksBody):
    """Tasks that are retired, and why."""

    note: str = key(_NOTE, default="")


class SchedulerBody(Body):
    """The scheduler of a project."""

    sched: str = key(Text())


class VolunteerBody(Body, exactly_one=("volunteer", "user_id", "external_uid", "taskrun_id")):
    """A volunteer of a project."""

    volunteer: str | None = key(CODE, "Volunteer code, as in their answers.", default=None)
    user_id: int | None = key(_ID, "Id of their account.", default=None)
    external_uid: str | None = key(TASK_RUN.field("external_uid").type, "Id of an external user.", default=None)
    taskrun_id: int | None = key(_ID, "Id of an answer that the volunteer gave.", default=None)


class WithdrawalBody(VolunteerBody, TasksBody):
    """A volunteer whose answers are deleted, and the tasks that they are answers to."""


class TaskRetirementBody(Body):
    """Why a task is retired: enough is known (retired), or it should not be answered (cancelled)."""

    reason: str = key(Choice(choices=REASONS), default=REASONS[0])
    note: str = key(_NOTE, default="")
