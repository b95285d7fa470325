"""Delete an account."""

from __future__ import annotations

from crowdd.domain.accounts.account_deletion import HANDLER as DELETE_ACCOUNT_TASK
from crowdd.domain.accounts.account_deletion import AccountDeletion
from crowdd.domain.core.background_queue import QueuedTask
from crowdd.languages import _
from crowdd.sched.handler import Handler


async def _run(account_deletion: AccountDeletion, item: QueuedTask) -> dict[str, object]:
    return {"answers": await account_deletion.carry_out(item.arguments["user_id"], item.progress)}


HANDLER = Handler(
    DELETE_ACCOUNT_TASK,
    lambda services, item: _run(services.people.account_deletion, item),
    title=_("Deletion of an account"),
    note=_("Nobody can sign in to the account any more. Its data is being removed."),
    max_attempts=20,
)
