"""The background tasks and the job of tasks: large changes, deletions, barred volunteers, and old versions."""

from __future__ import annotations

from crowdd.core.records.history import History
from crowdd.database.access import Transactions
from crowdd.features.projects import projects
from crowdd.features.tasks import settings
from crowdd.features.tasks.barring import HANDLER as SET_ASIDE_TASK
from crowdd.features.tasks.barring import Barring
from crowdd.features.tasks.changes import Changes
from crowdd.kernel.languages import _
from crowdd.sched.job import HOUR, Handler, Job
from crowdd.sched.queue import QueuedTask


async def _change_tasks(changes: Changes, item: QueuedTask) -> dict[str, object]:
    return await changes.carry_on(item)


# Change more tasks than one transaction should hold: redundancy, priority, deletion, withdrawn answers.
CHANGE_TASKS_HANDLER = Handler(
    settings.RECOUNT_HANDLER_NAME,
    lambda services, item: _change_tasks(services.changes, item),
    title=_("Change of tasks"),
    note=_("Tasks change group by group. Volunteers can answer in the meantime."),
)


async def _change_scheduler(db: Transactions, item: QueuedTask) -> None:
    await settings.carry_on_scheduler(db, item)


# Change the scheduler of a project that has many tasks.
CHANGE_SCHEDULER_HANDLER = Handler(
    settings.SCHEDULER_HANDLER_NAME,
    lambda services, item: _change_scheduler(services.db, item),
    title=_("New order of tasks"),
    note=_("Until the new order is ready, volunteers get one task after the other."),
)


async def _set_aside(barring: Barring, item: QueuedTask) -> dict[str, object]:
    return await barring.carry_on(item)


# Set aside or restore the many answers of a volunteer whom an owner has barred or let in again.
SET_ASIDE_HANDLER = Handler(
    SET_ASIDE_TASK,
    lambda services, item: _set_aside(services.barring, item),
    title=_("Answers of a barred volunteer"),
    note=_("Answers are set aside or count again, task by task."),
)


async def _sweep_history(history: History) -> str:
    return f"{await history.sweep()} versions deleted"


# Follow the setting of how long earlier versions are kept, and delete those that were kept long enough.
JOB = Job("sweep_history", HOUR, lambda services: _sweep_history(services.history))


async def _sweep_project(db: Transactions, item: QueuedTask) -> None:
    await projects.sweep(db, item)


# Remove the tasks and answers of a deleted project that had many.
SWEEP_PROJECT_HANDLER = Handler(
    projects.SWEEP,
    lambda services, item: _sweep_project(services.db, item),
    title=_("Deletion of a project"),
    note=_("The project is gone from all pages. Its tasks and answers are being removed."),
)
