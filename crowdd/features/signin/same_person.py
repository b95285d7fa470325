"""Links between an account and the browsers of its person: of two answers to a task the earlier one counts."""

from __future__ import annotations

from collections.abc import Callable

from crowdd.database.access import Transactions
from crowdd.features.accounts.rows import ActorLink
from crowdd.features.signin import same_person_statements
from crowdd.features.signin.answer_claims import by_project

_LINKS = 500  # looked at in one run of the job
_TASKS = 100  # changed in one transaction at most


class SamePerson:
    """Links actors that one browser proves. ``notify`` tells who watches a project that its figures have changed."""

    def __init__(self, db: Transactions, notify: Callable[[int], None]) -> None:
        self._db, self._notify = db, notify

    async def link(self, user_id: int, volunteer: str) -> None:
        """From now on, what the browser has answered is answered for the account, and the other way round."""
        await same_person_statements.link(self._db, f"u:{user_id}", f"c:{volunteer}")

    async def settle(self) -> int:
        """Sets aside the later answers to tasks that both actors of a new link had answered before; how many."""
        n = 0
        for actors in await same_person_statements.due(self._db, _LINKS):
            while more := await self._settle_some(actors):
                n += more
            await same_person_statements.settled(self._db, actors)
        return n

    async def _settle_some(self, actors: ActorLink) -> int:
        rows = await same_person_statements.answered_twice(self._db, actors, _TASKS)
        n = 0
        for project_id, task_ids in by_project(rows):
            n += await same_person_statements.keep_earlier(self._db, actors, project_id, task_ids)
            self._notify(project_id)
        return n
