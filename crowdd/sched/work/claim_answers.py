"""Puts the rest of many answers of a browser under somebody's account."""

from __future__ import annotations

from crowdd.domain.domain import Domain
from crowdd.domain.people.claims import WORK as NAME
from crowdd.domain.queue import Item
from crowdd.sched.works import Work


async def _run(domain: Domain, item: Item) -> dict[str, object]:
    user_id, volunteer = item.arguments["user_id"], item.arguments["volunteer"]
    return {"answers": await domain.people.claims.claim_all(user_id, volunteer, item.progress)}


WORK = Work(NAME, _run)
