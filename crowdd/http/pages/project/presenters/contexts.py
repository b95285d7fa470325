"""What the page around a presenter knows about its project and its volunteer."""

from __future__ import annotations

from crowdd.domain.accounts.accounts import Accounts
from crowdd.domain.core.records import Records
from crowdd.domain.projects.file_access import FileAccess
from crowdd.domain.tasks.contributions import Contributions
from crowdd.http.html import presenter
from crowdd.kinds.project import PROJECT
from crowdd.requester import Requester
from crowdd.storage.projects.rows import ProjectPage
from crowdd.values import Values


class PresenterContexts:
    """Makes the context of the page around a presenter."""

    def __init__(
        self, records: Records, contributions: Contributions, file_access: FileAccess, accounts: Accounts
    ) -> None:
        self._records, self._contributions, self._file_access = records, contributions, file_access
        self._accounts = accounts

    async def of(self, who: Requester, row: ProjectPage, kind: presenter.Kind, task_id: int | None) -> Values:
        """The context for a requester and the row of a project (``presenter.page_context``)."""
        mine = await self._contributions.progress(who, row["id"])
        return presenter.page_context(
            kind,
            self._records.public_view(PROJECT, row),
            task_id=task_id,
            volunteer=who.user_id,
            own_count=mine["done"],
            rank=await self._rank(who.user_id),
            progress=(int(row["n_completed_tasks"]), int(row["n_tasks"])),
            share=int(row["overall_progress"]),
            uploads=self._file_access.address(row),
            info=row["info"],
        )

    async def _rank(self, user_id: int | None) -> int | None:
        """The rank of an account by its answers; None without answers."""
        profile = None if user_id is None else await self._accounts.profile(user_id)
        return profile["rank"] if profile is not None and profile["score"] else None
