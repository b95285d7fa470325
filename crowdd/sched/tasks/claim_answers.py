"""Assign the remaining answers of a browser to an account."""

from __future__ import annotations

from crowdd.domain.accounts.answer_claims import HANDLER as CLAIM_ANSWERS_TASK
from crowdd.domain.accounts.answer_claims import AnswerClaims
from crowdd.domain.core.background_queue import QueuedTask
from crowdd.languages import _
from crowdd.sched.handler import Handler


async def _run(answer_claims: AnswerClaims, item: QueuedTask) -> dict[str, object]:
    user_id, volunteer = item.arguments["user_id"], item.arguments["volunteer"]
    return {"answers": await answer_claims.claim_all(user_id, volunteer, item.progress)}


HANDLER = Handler(
    CLAIM_ANSWERS_TASK,
    lambda services, item: _run(services.people.answer_claims, item),
    title=_("Earlier answers for an account"),
    note=_("Answers from before the sign-up move to the account."),
)
