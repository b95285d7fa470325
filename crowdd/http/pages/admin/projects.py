"""All projects of the site, drafts too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from crowdd.domain.server.administration import Administration
from crowdd.errors import InvalidValueError
from crowdd.http.html.row_lists import RowList, outward_rows, page_csv
from crowdd.http.pages.admin.access import admins_only
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response, Titled
from crowdd.http.routing import Route, get
from crowdd.languages import _
from crowdd.storage.projects.project_administration import ORDERS, STATES
from crowdd.values import Values

_LIST, _FILTERED = RowList(tuple(ORDERS)), RowList()
_COLUMNS = (
    "id",
    "name",
    "short_name",
    "owner",
    "state",
    "featured",
    "created",
    "n_tasks",
    "n_task_runs",
    "last_activity",
)


class Chosen(TypedDict):
    """The filters: a state, and the user name of an owner."""

    state: str | None
    owner: str | None


class ProjectsPublic(Titled):
    """``next`` is the project beside which the next page begins, None on the last one."""

    projects: list[Values]
    states: list[str]
    chosen: Chosen
    next: int | None


class AdminProjects:
    """``/admin/projects``."""

    def __init__(self, administration: Administration) -> None:
        self._administration = administration

    def routes(self) -> Iterator[Route]:
        yield get("/admin/projects", admins_only(self.projects))

    async def projects(self, incoming: Incoming) -> Response:
        """A page of projects. ``state`` and ``owner`` are filters; without them the list can be sorted by name."""
        state, owner = (incoming.query.get(name, "").strip() or None for name in ("state", "owner"))
        if state is not None and state not in STATES:
            raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="state", choices=", ".join(STATES)))
        row_list = _FILTERED if state or owner else _LIST
        place = row_list.place(incoming)
        part = await self._administration.projects(incoming.who, place, state=state, owner=owner)
        rows = outward_rows(part.rows)
        if incoming.query.get("csv") and not incoming.wants_json:
            return page_csv("projects", _COLUMNS, rows)
        public = ProjectsPublic(
            title=_("Projects"),
            projects=rows,
            states=list(STATES),
            chosen=Chosen(state=state, owner=owner),
            next=part.rows[-1]["id"] if part.next else None,
        )
        filters = {"state": state or "", "owner": owner or ""}
        return Page("admin/projects.html", public, row_list.drawn(place, filters, part, lambda row: row["id"]))
