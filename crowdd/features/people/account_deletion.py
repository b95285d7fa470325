"""People who go: their answers stay with the projects, under a random pseudonym in each; all else about them goes, and
so do the files of their answers.

It is begun while the person looks on (nobody can sign in any more, no key works) and carried out by the queue, in short
transactions. A reader from half-way on sees some answers under the account and some under the pseudonym, never
one twice or none.
"""

from __future__ import annotations

import hashlib
import ipaddress
import secrets as random
from collections.abc import Awaitable, Callable

import attrs

from crowdd.core import log_statements
from crowdd.core.mail import statements as mail_statements
from crowdd.core.secrets import Secrets
from crowdd.core.uploads import Uploads
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts import list_statements as account_list_statements
from crowdd.features.accounts.rows import AccountPage, OwnedProject
from crowdd.features.answer_files.answer_files import AnswerFiles
from crowdd.features.people import personal_data_statements
from crowdd.features.people.personal_data import PersonalData
from crowdd.features.signin.answer_claims import by_project
from crowdd.kernel.errors import ForbiddenError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.sched.queue import Queue

HANDLER = "delete_account"
AT_ONCE = 500
_JOB = Requester(via="job")
Progress = Callable[[int], Awaitable[None]]


@attrs.frozen(eq=False)
class AccountDeletion:
    """Deletes accounts. ``notify`` tells who watches a project that its figures have changed."""

    _db: Transactions
    _queue: Queue
    _uploads: Uploads
    _secrets: Secrets
    _exports: PersonalData
    _files: AnswerFiles
    _notify: Callable[[int], None]

    async def obstacles(self, user_id: int) -> list[OwnedProject]:
        """Projects that have to be handed over or deleted before: id, short_name, name."""
        return await personal_data_statements.owned(self._db, user_id)

    async def begin(self, row: AccountPage, who: Requester) -> None:
        """Ends an account. Raises ForbiddenError while it owns projects, or is the last administrator's."""

        async def work(tx: Database) -> None:
            if owned := await personal_data_statements.owned(tx, row["id"]):
                names = ", ".join(project["short_name"] for project in owned)
                raise ForbiddenError(_("You own projects: %(names)s. Transfer or delete them first.", names=names))
            if row["admin"] and not await personal_data_statements.other_admins(tx, row["id"]):
                raise ForbiddenError(_("You are the last administrator. Appoint another one first."))
            await personal_data_statements.begin_deletion(tx, row["id"], random.token_hex(16))
            await self._queue.add(tx, HANDLER, {"user_id": row["id"]}, attrs.evolve(_JOB, via=who.via))
            await log_statements.write_act(tx, who, "delete", "user", row["id"])

        await self._db.transaction(work)

    async def carry_out(self, user_id: int, report: Progress) -> int:
        """Moves the answers and removes the account; can be repeated. How many answers there were."""
        seed = await personal_data_statements.deletion_seed(self._db, user_id) or random.token_hex(16)
        await personal_data_statements.withdraw_words(self._db, user_id)
        moved = await self._move_all(user_id, seed, report)
        for project_id in await account_list_statements.list_projects_with_rights(self._db, f"u:{user_id}"):
            await account_list_statements.forget_volunteer(self._db, project_id, f"u:{user_id}")
        address = await personal_data_statements.address(self._db, user_id)
        if address is not None:
            await mail_statements.forget(self._db, address)
            subject = self._secrets.digest("address", address.strip().lower())
            files = await self._db.transaction(lambda tx: personal_data_statements.remove(tx, user_id, subject))
            self._exports.forget(files)
        self._uploads.drop_container(f"user-{user_id}")
        moved += await self._move_all(user_id, seed, report)
        await self._forget_in_events(user_id, moved, report)
        await personal_data_statements.forget_words(self._db, user_id)
        return moved

    async def _forget_in_events(self, user_id: int, moved: int, report: Progress) -> None:
        """Takes the account out of all events; they said whose answers counted."""
        last: tuple[int, int] | None = (0, 0)
        while last is not None:
            last = await personal_data_statements.forget_in_events(self._db, user_id, last)
            await report(moved)

    async def _move_all(self, user_id: int, seed: str, report: Progress) -> int:
        """Their files go: nobody can tell from a pseudonym whose face or voice that is, but who knows it can."""
        moved = 0
        await self._files.remove_of_person(user_id)
        while rows := await personal_data_statements.runs_of(self._db, user_id, AT_ONCE):
            for project_id, tasks in by_project(rows):
                pseudonym = pseudonym_in(seed, project_id)
                whose, to = (f"u:{user_id}", user_id), (f"i:{pseudonym}", None, pseudonym)
                moved += await account_list_statements.move_answers(self._db, project_id, tasks, whose, to)
                self._notify(project_id)
            await report(moved)
        return moved

    async def finish(self) -> int:
        """Goes after those who went in the last hours: answers that were on their way then. How many were found."""
        answer_count = 0
        for row in await personal_data_statements.begun_deletions(self._db):
            if more := await self._move_all(row.user_id, row.pseudonym, _quiet):
                await self._forget_in_events(row.user_id, more, _quiet)
            answer_count += more
            if row.old:
                await personal_data_statements.end_deletion(self._db, row.user_id)
        return answer_count


async def _quiet(done: int) -> None:
    """Nobody is told."""


def pseudonym_in(seed: str, project_id: int) -> str:
    """An address that nobody has: of the private part of IPv6, so that it meets no other pseudonym.

    As random as the seed, which is forgotten in the end; another one in each project.
    """
    digest = hashlib.sha256(f"{seed} {project_id}".encode()).digest()
    return str(ipaddress.IPv6Address((0xFD << 120) | int.from_bytes(digest[:15], "big")))
