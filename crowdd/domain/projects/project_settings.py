"""The settings of a project as values, and what its owners should look at."""

from __future__ import annotations

from crowdd.domain.core import rights
from crowdd.domain.webhooks import retry_policy
from crowdd.kinds.roles import OWNERS
from crowdd.requester import Requester
from crowdd.storage.database import Database
from crowdd.storage.projects import project_settings
from crowdd.storage.projects.owner_rows import ProjectAttention, ProjectSettings
from crowdd.storage.projects.rows import ProjectPage

FAILED_WORK_DAYS = 7  # so long a failed background task needs attention; afterwards it is history


class SettingsOverview:
    """``row`` is a project's row as ``Projects.owned`` gives it; the requester must be one of its owners."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def attention(self, row: ProjectPage, who: Requester) -> ProjectAttention:
        """What the owners should look at, from the rows that it is about."""
        rights.require(who, row["roles"], OWNERS)
        return await project_settings.attention(self._db, row["id"], retry_policy.FAILING, FAILED_WORK_DAYS)

    async def current(self, row: ProjectPage, who: Requester) -> ProjectSettings:
        """The values of settings that do not stand in the project's own row."""
        rights.require(who, row["roles"], OWNERS)
        return await project_settings.current(self._db, row["id"], retry_policy.FAILING)
