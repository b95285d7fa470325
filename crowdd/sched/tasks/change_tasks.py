"""Change more tasks than one transaction should hold: redundancy, priority, deletion, withdrawn answers."""

from __future__ import annotations

from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.projects.answers import answer_recount
from crowdd.domain.tasks.changes import Changes
from crowdd.languages import _
from crowdd.sched.handler import Handler


async def _run(changes: Changes, item: QueuedTask) -> dict[str, object]:
    return await changes.carry_on(item)


HANDLER = Handler(
    answer_recount.HANDLER,
    lambda services, item: _run(services.changes, item),
    title=_("Change of tasks"),
    note=_("Tasks change group by group. Volunteers can answer in the meantime."),
)
