"""The background tasks and jobs of people: delete an account, and write the file with all data about a person."""

from __future__ import annotations

from crowdd.features.people.account_deletion import HANDLER as DELETE_ACCOUNT_TASK
from crowdd.features.people.account_deletion import AccountDeletion
from crowdd.features.people.personal_data import HANDLER as PERSONAL_EXPORT_TASK
from crowdd.features.people.personal_data import PersonalData
from crowdd.kernel.languages import _
from crowdd.sched.job import HOUR, Handler, Job
from crowdd.sched.queue import QueuedTask


async def _delete_account(account_deletion: AccountDeletion, item: QueuedTask) -> dict[str, object]:
    return {"answers": await account_deletion.carry_out(item.arguments["user_id"], item.progress)}


# Delete an account.
DELETE_ACCOUNT_HANDLER = Handler(
    DELETE_ACCOUNT_TASK,
    lambda services, item: _delete_account(services.people.account_deletion, item),
    title=_("Deletion of an account"),
    note=_("Nobody can sign in to the account any more. Its data is being removed."),
    max_attempts=20,
)


async def _finish_account_deletions(account_deletion: AccountDeletion) -> str:
    return f"{await account_deletion.finish()} answers found"


# Assign late answers of deleted accounts to the pseudonym, then forget which account each pseudonym was.
FINISH_ACCOUNT_DELETIONS_JOB = Job(
    "finish_account_deletions", HOUR, lambda services: _finish_account_deletions(services.people.account_deletion)
)


async def _write_personal_export(personal_data: PersonalData, item: QueuedTask) -> dict[str, object]:
    return await personal_data.make(item.arguments["user_id"], item.progress)


# Write the file with all data about a person.
PERSONAL_EXPORT_HANDLER = Handler(
    PERSONAL_EXPORT_TASK,
    lambda services, item: _write_personal_export(services.people.personal_data, item),
    title=_("Export of personal data"),
    note=_("The person gets an e-mail with a link when the file is ready."),
)
