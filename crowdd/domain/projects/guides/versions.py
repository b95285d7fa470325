"""Earlier versions of guides, for the owners of a project."""

from __future__ import annotations

from crowdd.domain.core import rights
from crowdd.errors import NOT_FOUND, NotFoundError
from crowdd.kinds.guides import Guide
from crowdd.kinds.roles import OWNERS, Role
from crowdd.requester import Requester
from crowdd.storage.database import Database
from crowdd.storage.projects.versions import guide_versions
from crowdd.storage.projects.versions.guide_rows import GuideVersion, GuideVersionSummary


class GuideVersions:
    """Lists and reads versions of the guides of a project, with the roles that the requester has there."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def listed(
        self, who: Requester, roles: frozenset[Role], project_id: int, guide: Guide
    ) -> list[GuideVersionSummary]:
        """The versions that are kept, the newest first."""
        rights.require(who, roles, OWNERS)
        return await guide_versions.listed(self._db, project_id, guide.name)

    async def get(
        self, who: Requester, roles: frozenset[Role], project_id: int, guide: Guide, version: int
    ) -> GuideVersion:
        """One version. Raises NotFoundError for one that is not kept."""
        rights.require(who, roles, OWNERS)
        guide_version = await guide_versions.get(self._db, project_id, guide.name, version)
        if guide_version is None:
            raise NotFoundError(NOT_FOUND)
        return guide_version
