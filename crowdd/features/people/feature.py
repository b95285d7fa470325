"""People: profiles, personal data, deleted accounts, and what administrators see of people."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.answer_files.feature import AnswerFilesFeature
from crowdd.features.people.account_deletion import HANDLER as DELETE_ACCOUNT_TASK
from crowdd.features.people.account_deletion import AccountDeletion
from crowdd.features.people.avatars import Avatars
from crowdd.features.people.personal_data import HANDLER as PERSONAL_EXPORT_TASK
from crowdd.features.people.personal_data import PersonalData
from crowdd.features.people.profiles import Profiles, UserList
from crowdd.features.signin.feature import SigninFeature
from crowdd.kernel.languages import _
from crowdd.sched.feature import Scheduling
from crowdd.sched.job import HOUR, Handler, Job
from crowdd.sched.queue import QueuedTask


@attrs.frozen
class PeopleFeature(Feature):
    """What people and administrators see and do with accounts."""

    profiles: Profiles
    avatars: Avatars
    user_list: UserList
    personal_data: PersonalData
    account_deletion: AccountDeletion

    @classmethod
    def build(
        cls,
        base: Base,
        scheduling: Scheduling,
        accounts: AccountsFeature,
        signin: SigninFeature,
        files: AnswerFilesFeature,
    ) -> PeopleFeature:
        db, queue, uploads, thread = base.db, scheduling.queue, base.uploads, base.worker_thread
        email_links, folder = accounts.email_links, base.settings.data.dir / "exports"
        personal_data = PersonalData(db, queue, uploads, thread.another(), email_links, files.answer_files, folder)
        return cls(
            profiles=Profiles(
                db,
                accounts.passwords,
                accounts.policy,
                signin.signing_in,
                signin.email_confirmation,
                email_links,
                signin.revoking,
                base.security_log,
            ),
            avatars=Avatars(db, thread, uploads, base.base_url),
            user_list=UserList(db),
            personal_data=personal_data,
            account_deletion=AccountDeletion(
                db, queue, uploads, base.secrets, personal_data, files.answer_files, base.notify
            ),
        )


async def _delete_account(account_deletion: AccountDeletion, item: QueuedTask) -> dict[str, object]:
    return {"answers": await account_deletion.carry_out(item.arguments["user_id"], item.progress)}


# Delete an account.
DELETE_ACCOUNT_HANDLER = Handler(
    DELETE_ACCOUNT_TASK,
    lambda house, item: _delete_account(house[PeopleFeature].account_deletion, item),
    title=_("Deletion of an account"),
    note=_("Nobody can sign in to the account any more. Its data is being removed."),
    max_attempts=20,
)


async def _finish_account_deletions(account_deletion: AccountDeletion) -> str:
    return f"{await account_deletion.finish()} answers found"


# Assign late answers of deleted accounts to the pseudonym, then forget which account each pseudonym was.
FINISH_ACCOUNT_DELETIONS_JOB = Job(
    "finish_account_deletions", HOUR, lambda house: _finish_account_deletions(house[PeopleFeature].account_deletion)
)


async def _write_personal_export(personal_data: PersonalData, item: QueuedTask) -> dict[str, object]:
    return await personal_data.make(item.arguments["user_id"], item.progress)


# Write the file with all data about a person.
PERSONAL_EXPORT_HANDLER = Handler(
    PERSONAL_EXPORT_TASK,
    lambda house, item: _write_personal_export(house[PeopleFeature].personal_data, item),
    title=_("Export of personal data"),
    note=_("The person gets an e-mail with a link when the file is ready."),
)
