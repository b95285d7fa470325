"""How much the projects of an account may hold together: projects, tasks, and bytes with their files and answers."""

from __future__ import annotations

from typing import Final

from crowdd.config.limits import QuotaSettings
from crowdd.domain.core.site import Site
from crowdd.errors import ForbiddenError
from crowdd.languages import _
from crowdd.requester import Requester
from crowdd.storage.core import quota
from crowdd.storage.database import Database
from crowdd.values import Values

LARGE_ANSWER: Final = 16_000
"""Bytes. Smaller answers are always taken: volunteers cannot help it that an owner's account is full."""


class Quota:
    """Refuses what goes beyond the limits. Administrators, and programs at the command line, are not refused."""

    def __init__(self, limits: QuotaSettings, site: Site) -> None:
        self._limits, self._site = limits, site

    async def usage(self, db: Database, user_id: int) -> dict[str, dict[str, int]]:
        """``used`` and ``max`` (0: no limit) of projects, tasks and bytes."""
        used = await quota.usage(db, user_id)
        counts = {"projects": used.projects, "tasks": used.tasks, "bytes": used.bytes}
        return {name: {"used": count, "max": self._max(name)} for name, count in counts.items()}

    async def require(self, tx: Database, who: Requester) -> None:
        """To be called at the end of a transaction: raises ForbiddenError when it adds too much to an account."""
        limits = self._limits
        if _exempt(who) or not (limits.max_tasks or limits.max_bytes):
            return
        over = await quota.exceeded(tx, limits.max_tasks, limits.max_bytes)
        if over is not None:
            raise self._refusal(over.what, over.used)

    async def require_project(self, tx: Database, who: Requester, owner_id: int) -> None:
        """The same for the number of projects, once a new one is there."""
        maximum = self._site.max_projects
        if _exempt(who) or not maximum:
            return
        count = await quota.projects_with_new(tx, owner_id)
        if count > maximum:
            raise self._refusal("projects", count)

    async def require_room(self, db: Database, project_id: int) -> None:
        """Raises ForbiddenError when the owner of a project has no bytes left: for large answers."""
        maximum = self._limits.max_bytes
        if maximum and (used := await quota.bytes_of_owner(db, project_id)) >= maximum:
            raise self._refusal("bytes", used)

    def _max(self, what: str) -> int:
        limit: int = self._site.max_projects if what == "projects" else getattr(self._limits, f"max_{what}")
        return limit

    def _refusal(self, what: str, used: int) -> ForbiddenError:
        maximum = self._max(what)
        values: Values = {"maximum": f"{maximum:,}", "count": f"{used:,}"}
        if what == "projects":
            words = _("An account may own %(maximum)s projects (this would be %(count)s).", **values)
        elif what == "tasks":
            words = _("The projects of an account may have %(maximum)s tasks (these would be %(count)s).", **values)
        else:
            values = {"maximum": f"{maximum // 1_000_000:,}", "count": f"{-(-used // 1_000_000):,}"}
            words = _("The projects of an account may hold %(maximum)s MB (these would be %(count)s MB).", **values)
        return ForbiddenError(words, code="quota_exceeded", hint="Delete something, or ask the operator for more.")


def _exempt(who: Requester) -> bool:
    return who.acting_admin or who.via == "cli"
