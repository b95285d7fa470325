"""Puts the rest of many answers of a browser under somebody's account."""

from __future__ import annotations

from crowdd.domain.accounts.answer_claims import WORK as NAME
from crowdd.domain.core.background_queue import Item
from crowdd.domain.server.services import Domain
from crowdd.sched.task_handlers import Work


async def _run(domain: Domain, item: Item) -> dict[str, object]:
    user_id, volunteer = item.arguments["user_id"], item.arguments["volunteer"]
    return {"answers": await domain.people.claims.claim_all(user_id, volunteer, item.progress)}


WORK = Work(NAME, _run)
