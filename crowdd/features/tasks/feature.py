"""Tasks: assignment, answers, leases, changes, lists, volunteers and comments."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.core.records.history import History
from crowdd.database.access import Transactions
from crowdd.features.answer_files.feature import AnswerFilesFeature
from crowdd.features.groups.feature import GroupsFeature
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.tasks import settings
from crowdd.features.tasks.barring import HANDLER as SET_ASIDE_TASK
from crowdd.features.tasks.barring import Barring
from crowdd.features.tasks.changes import Changes
from crowdd.features.tasks.comments import Comments
from crowdd.features.tasks.contributions import Contributions, TaskRunBehaviour
from crowdd.features.tasks.leases import Leases
from crowdd.features.tasks.predictions import PredictionBehaviour
from crowdd.features.tasks.sample_tasks import SampleTasks
from crowdd.features.tasks.task_list import Browsing
from crowdd.features.tasks.tasks import TaskBehaviour
from crowdd.features.tasks.volunteers import Volunteers
from crowdd.kernel.concurrency.throttling import Turns
from crowdd.kernel.languages import _
from crowdd.sched.feature import Scheduling
from crowdd.sched.job import HOUR, Handler, Job
from crowdd.sched.queue import QueuedTask

_PRELOAD_WAIT_SECONDS = 5.0
_PRELOADS_BUSY = "Too many clients request many tasks at once. Use a smaller limit."


@attrs.frozen
class TasksFeature(Feature):
    """Who gets which task, and what becomes of the answer."""

    contributions: Contributions
    leases: Leases
    changes: Changes
    barring: Barring
    volunteers: Volunteers
    comments: Comments
    browsing: Browsing
    sample_tasks: SampleTasks

    @classmethod
    def build(
        cls,
        base: Base,
        scheduling: Scheduling,
        projects: ProjectsFeature,
        groups: GroupsFeature,
        files: AnswerFilesFeature,
    ) -> TasksFeature:
        db, notify, shared = base.db, base.notify, base.shared
        base.set_behaviours(TaskBehaviour(), TaskRunBehaviour(files.answer_files), PredictionBehaviour())
        preloads = shared.once(
            "preloads",
            lambda: Turns(shared.reactor, 1, _PRELOAD_WAIT_SECONDS, rest=1.0, refusal=_PRELOADS_BUSY),
        )
        contributions = Contributions(
            db,
            base.new_batcher,
            notify,
            projects.external,
            base.records,
            groups.networks,
            base.quota,
            preloads,
            files.answer_files,
            keep_circumstances=base.settings.volunteers.keep_circumstances,
        )
        projects.parts.append(settings.TaskSettingsPart(scheduling.queue))
        changes = Changes(db, notify, scheduling.queue)
        return cls(
            contributions=contributions,
            leases=Leases(db, notify, contributions),
            changes=changes,
            barring=Barring(db, notify, scheduling.queue, changes),
            volunteers=Volunteers(db, changes),
            comments=Comments(db, base.records, contributions),
            browsing=Browsing(db, base.records),
            sample_tasks=SampleTasks(db, changes),
        )


async def _change_tasks(changes: Changes, item: QueuedTask) -> dict[str, object]:
    return await changes.carry_on(item)


# Change more tasks than one transaction should hold: redundancy, priority, deletion, withdrawn answers.
CHANGE_TASKS_HANDLER = Handler(
    settings.RECOUNT_HANDLER_NAME,
    lambda house, item: _change_tasks(house[TasksFeature].changes, item),
    title=_("Change of tasks"),
    note=_("Tasks change group by group. Volunteers can answer in the meantime."),
)


async def _change_scheduler(db: Transactions, item: QueuedTask) -> None:
    await settings.carry_on_scheduler(db, item)


# Change the scheduler of a project that has many tasks.
CHANGE_SCHEDULER_HANDLER = Handler(
    settings.SCHEDULER_HANDLER_NAME,
    lambda house, item: _change_scheduler(house.base.db, item),
    title=_("New order of tasks"),
    note=_("Until the new order is ready, volunteers get one task after the other."),
)


async def _set_aside(barring: Barring, item: QueuedTask) -> dict[str, object]:
    return await barring.carry_on(item)


# Set aside or restore the many answers of a volunteer whom an owner has barred or let in again.
SET_ASIDE_HANDLER = Handler(
    SET_ASIDE_TASK,
    lambda house, item: _set_aside(house[TasksFeature].barring, item),
    title=_("Answers of a blocked volunteer"),
    note=_("Answers are set aside or count again, task by task."),
)


async def _sweep_history(history: History) -> str:
    return f"{await history.sweep()} versions deleted"


# Follow the setting of how long earlier versions are kept, and delete those that were kept long enough.
JOB = Job("sweep_history", HOUR, lambda house: _sweep_history(house.base.history))
