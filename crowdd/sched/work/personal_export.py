"""Makes the file of everything about a person."""

from __future__ import annotations

from crowdd.domain.domain import Domain
from crowdd.domain.people.personal_data import WORK as NAME
from crowdd.domain.queue import Item
from crowdd.sched.works import Work


async def _run(domain: Domain, item: Item) -> dict[str, object]:
    return await domain.people.personal_data.make(item.arguments["user_id"], item.progress)


WORK = Work(NAME, _run)
