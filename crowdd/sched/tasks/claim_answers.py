"""Puts the rest of many answers of a browser under somebody's account."""

from __future__ import annotations

from crowdd.domain.accounts.answer_claims import HANDLER as NAME
from crowdd.domain.core.background_queue import QueuedTask
from crowdd.domain.server.services import Services
from crowdd.sched.task_handlers import Handler


async def _run(services: Services, item: QueuedTask) -> dict[str, object]:
    user_id, volunteer = item.arguments["user_id"], item.arguments["volunteer"]
    return {"answers": await services.people.answer_claims.claim_all(user_id, volunteer, item.progress)}


HANDLER = Handler(NAME, _run)
