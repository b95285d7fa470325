"""Set aside or restore the many answers of a volunteer whom an owner has barred or let in again."""

from __future__ import annotations

from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.tasks.barring import HANDLER as SET_ASIDE_TASK
from crowdd.domain.tasks.barring import Barring
from crowdd.languages import _
from crowdd.sched.handler import Handler


async def _run(barring: Barring, item: QueuedTask) -> dict[str, object]:
    return await barring.carry_on(item)


HANDLER = Handler(
    SET_ASIDE_TASK,
    lambda services, item: _run(services.barring, item),
    title=_("Answers of a barred volunteer"),
    note=_("Answers are set aside or count again, task by task."),
)
