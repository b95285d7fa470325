"""Delete an account."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.domain.accounts.account_deletion import HANDLER as DELETE_ACCOUNT_TASK
from crowdd.domain.accounts.account_deletion import AccountDeletion
from crowdd.domain.core.background_queue import QueuedTask
from crowdd.errors import UnavailableError
from crowdd.languages import _
from crowdd.sched.handler import Handler
from crowdd.storage.database import Transactions
from crowdd.storage.server.shards.preparing import listed


async def _run(
    account_deletion: AccountDeletion, elsewhere: Sequence[AccountDeletion], shards: Transactions, item: QueuedTask
) -> dict[str, object]:
    """The databases of shards come first: at the end, nothing knows any more that there was such an account."""
    if len(await listed(shards)) != len(elsewhere):
        raise UnavailableError("This process cannot reach all databases of the server.")
    answers = 0
    for each in (*elsewhere, account_deletion):
        answers += await each.carry_out(item.arguments["user_id"], item.progress)
    return {"answers": answers}


HANDLER = Handler(
    DELETE_ACCOUNT_TASK,
    lambda services, item: _run(
        services.people.account_deletion,
        [shard.people.account_deletion for shard in services.shards],
        services.db,
        item,
    ),
    title=_("Deletion of an account"),
    note=_("Nobody can sign in to the account any more. Its data is being removed."),
    max_attempts=20,
)
