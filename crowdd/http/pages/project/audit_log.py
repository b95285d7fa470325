"""The audit log of a project."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.projects.projects import Projects
from crowdd.http.html.row_lists import RowList, WithTable, outward_rows, page_csv
from crowdd.http.pages.project.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response
from crowdd.http.routing import Route, get
from crowdd.values import Values

_LIST = RowList()
_COLUMNS = ("id", "at", "user_name", "via", "action", "kind", "object_id", "attribute", "before", "after")


class AuditPublic(ProjectPublic):
    auditlog: list[Values]
    next: int | None


class AuditPrivate(ProjectPrivate, WithTable):
    """``user``: the name by which the log is filtered."""

    user: str


class ProjectAuditPages:
    """``/project/<short_name>/auditlog``."""

    def __init__(self, projects: Projects, views: ProjectViews) -> None:
        self._projects, self._views = projects, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/auditlog", locked_out(self.page))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """A page of the log. ``user`` (a name) is a filter."""
        row = await self._projects.owned(short_name, incoming.who)
        place, user = _LIST.place(incoming), incoming.query.get("user", "").strip()
        part = await self._projects.acts(row, incoming.who, place, user or None)
        log = outward_rows(part.rows)
        if incoming.query.get("csv") and not incoming.wants_json:
            return page_csv(f"{short_name}_audit", _COLUMNS, log)
        context = await self._views.context(incoming, row)
        earlier = part.rows[-1]["id"] if part.next else None
        drawn = _LIST.drawn(place, {"user": user}, part, lambda act: act["id"])
        public = AuditPublic(**context.public, auditlog=log, next=earlier)
        return Page("project/auditlog.html", public, AuditPrivate(**context.private, **drawn, user=user))
