"""Write the file with all data about a person."""

from __future__ import annotations

from crowdd.domain.accounts.personal_data import HANDLER as PERSONAL_EXPORT_TASK
from crowdd.domain.accounts.personal_data import PersonalData
from crowdd.domain.core.background_queue import QueuedTask
from crowdd.languages import _
from crowdd.sched.handler import Handler


async def _run(personal_data: PersonalData, item: QueuedTask) -> dict[str, object]:
    return await personal_data.make(item.arguments["user_id"], item.progress)


HANDLER = Handler(
    PERSONAL_EXPORT_TASK,
    lambda services, item: _run(services.people.personal_data, item),
    title=_("Export of personal data"),
    note=_("The person gets an e-mail with a link when the file is ready."),
)
