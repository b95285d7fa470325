"""The audit log of a project."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.projects.projects import MAX_ACTS, Projects
from crowdd.http.pages.project.views import ProjectPublic, ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response
from crowdd.http.routing import Route, get
from crowdd.kinds.kind import outward
from crowdd.kinds.types import Integer
from crowdd.values import Values


class AuditPublic(ProjectPublic):
    auditlog: list[Values]
    next: int | None


class ProjectAuditPages:
    """``/project/<short_name>/auditlog``."""

    def __init__(self, projects: Projects, views: ProjectViews) -> None:
        self._projects, self._views = projects, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/auditlog", locked_out(self.page))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The newest entries, or those before one (``before``, an id)."""
        row = await self._projects.owned(short_name, incoming.who)
        before = incoming.query.get("before") or None
        acts = await self._projects.acts(row, incoming.who, before and Integer().parse(before))
        log = [{name: outward(value) for name, value in act.items()} for act in acts]
        context = await self._views.context(incoming, row)
        earlier = acts[-1]["id"] if len(acts) == MAX_ACTS else None
        return Page("project/auditlog.html", AuditPublic(**context.public, auditlog=log, next=earlier), context.private)
