"""Carries out somebody's farewell."""

from __future__ import annotations

from crowdd.domain.domain import Domain
from crowdd.domain.people.farewell import WORK as NAME
from crowdd.domain.queue import Item
from crowdd.sched.works import Work


async def _run(domain: Domain, item: Item) -> dict[str, object]:
    return {"answers": await domain.people.farewell.carry_out(item.arguments["user_id"], item.progress)}


WORK = Work(NAME, _run, most_attempts=20)
