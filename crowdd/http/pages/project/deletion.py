"""The deletion of a project."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from crowdd.domain.core import rights
from crowdd.domain.core.records import Records
from crowdd.domain.projects.projects import Projects
from crowdd.http.html.forms import Forms, WithForm
from crowdd.http.pages.project.views import ProjectPublic, ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds.project import PROJECT
from crowdd.languages import _
from crowdd.storage.projects.rows import ProjectPage

_AT = "/project/<short_name>/delete"


class DeletePublic(ProjectPublic, WithForm, Message):
    csrf: str


class DeletingPages:
    """``/project/<short_name>/delete``."""

    def __init__(self, projects: Projects, records: Records, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._records, self._forms, self._views = projects, records, forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.form), manages=True)
        yield post(_AT, locked_out(self.delete), manages=True)

    async def form(self, incoming: Incoming, short_name: str) -> Response:
        return await self._page(incoming, await self._owned(incoming, short_name), {})

    async def delete(self, incoming: Incoming, short_name: str) -> Response:
        """Deletes the project. ``confirm`` is its short name; programs may leave it out while there is no result."""
        row = await self._owned(incoming, short_name)
        if not _may_leave_out(incoming, row) and incoming.field("confirm").strip() != row["short_name"]:
            words = _("Type the short name of the project exactly.")
            return await self._page(incoming, row, {"confirm": [words]}, Message(flash=words, status="error"))
        await self._records.delete(PROJECT, incoming.who, row["id"])
        return Redirect(f"/account/{quote(incoming.who.user_name)}/", _("Project deleted!"))

    async def _owned(self, incoming: Incoming, short_name: str) -> ProjectPage:
        """The project, for its owner and for administrators; co-owners cannot delete it."""
        row = await self._projects.owned(short_name, incoming.who)
        rights.require(incoming.who, row["roles"], PROJECT.rights.delete)
        return row

    async def _page(
        self, incoming: Incoming, row: ProjectPage, errors: dict[str, list[str]], message: Message = NO_MESSAGE
    ) -> Response:
        context = await self._views.context(incoming, row)
        form = self._forms.refused(incoming, errors, "confirm") if errors else self._forms.blank(incoming, "confirm")
        public = DeletePublic(**context.public, csrf=form["csrf"], form=form, **message)
        return Page("project/delete.html", public, context.private)


def _may_leave_out(incoming: Incoming, row: ProjectPage) -> bool:
    """Whether ``confirm`` may be missing: existing front ends send none and only delete projects without results."""
    left_out = incoming.content_type == "application/json" and incoming.form.get("confirm") is None
    return left_out and not row["n_completed_tasks"]
