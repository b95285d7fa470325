"""Assign late answers of deleted accounts to the pseudonym, then forget which account each pseudonym was."""

from __future__ import annotations

from crowdd.domain.accounts.account_deletion import AccountDeletion
from crowdd.sched.job import HOUR, Job


async def _finish(account_deletion: AccountDeletion) -> str:
    return f"{await account_deletion.finish()} answers found"


JOB = Job("finish_account_deletions", HOUR, lambda services: _finish(services.people.account_deletion))
