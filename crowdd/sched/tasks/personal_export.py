"""Makes the file of everything about a person."""

from __future__ import annotations

from crowdd.domain.accounts.personal_data import WORK as NAME
from crowdd.domain.core.background_queue import Item
from crowdd.domain.server.services import Domain
from crowdd.sched.task_handlers import Work


async def _run(domain: Domain, item: Item) -> dict[str, object]:
    return await domain.people.personal_data.make(item.arguments["user_id"], item.progress)


WORK = Work(NAME, _run)
