"""The volunteer's page: the frame with a project's presenter, and the page around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crowdd.domain.core import queries
from crowdd.domain.projects.projects import Projects
from crowdd.domain.tasks.contributions import Contributions
from crowdd.domain.tasks.finished_tasks import Finished, FinishedTasks
from crowdd.errors import AnonymousError, NotFoundError
from crowdd.http.auth.confirmation import Confirm
from crowdd.http.html import presenter
from crowdd.http.pages.project.presenters import result_rows
from crowdd.http.pages.project.presenters.contexts import PresenterContexts
from crowdd.http.pages.project.presenters.frames import PresenterFrames
from crowdd.http.pages.project.views import ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response
from crowdd.http.routing import Route, get
from crowdd.kinds.kind import OWNERS
from crowdd.languages import _
from crowdd.storage.database import Row

_TITLES: dict[presenter.Kind, str] = {
    "newtask": _("Contribute"),
    "task": _("Contribute"),
    "tutorial": _("Tutorial"),
    "results": _("Results"),
}
_MAX_ID = 2**63 - 1


class PresentingPages:
    """newtask, task, tutorial and results: one page, whose frame shows what the owner wrote for it."""

    def __init__(
        self,
        projects: Projects,
        contributions: Contributions,
        finished_tasks: FinishedTasks,
        contexts: PresenterContexts,
        frames: PresenterFrames,
        confirm: Confirm,
        views: ProjectViews,
    ) -> None:
        self._projects, self._contributions, self._finished_tasks = projects, contributions, finished_tasks
        self._contexts, self._frames, self._confirm, self._views = contexts, frames, confirm, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/newtask", locked_out(self.newtask), action="answer")
        yield get("/project/<short_name>/task/<int:task_id>", locked_out(self.task), action="answer")
        yield get("/project/<short_name>/tutorial", locked_out(self.tutorial))
        yield get("/project/<short_name>/results", locked_out(self.results))

    async def newtask(self, incoming: Incoming, short_name: str) -> Response:
        return await self._page(incoming, short_name, "newtask")

    async def task(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """The script of the page leases the task. For a program, which has no script, asking for the page does."""
        return await self._page(incoming, short_name, "task", task_id)

    async def tutorial(self, incoming: Incoming, short_name: str) -> Response:
        return await self._page(incoming, short_name, "tutorial")

    async def results(self, incoming: Incoming, short_name: str) -> Response:
        """What the owner wrote for it; without that the finished tasks, those before one result (``before``)."""
        return await self._page(incoming, short_name, "results")

    async def _finished(self, incoming: Incoming, row: Row, context: dict[str, Any]) -> Response:
        """The finished tasks, for those who may see answers."""
        before = incoming.query.get("before", "")
        sees = self._finished_tasks.may_see(row)
        earlier = queries.number(before, "before", 0) if before else None
        found = await self._finished_tasks.page(row, earlier) if sees else Finished([], None)
        asked = result_rows.asked_by(row["info"])
        return Page(
            "project/presenter.html",
            drawn_as="project/results.html",
            **context,
            _rows=[result_rows.shown(task, asked) for task in found.tasks],
            _next=found.next,
            _first=not before,
            _sees=sees,
            _owns=bool(row["roles"] & OWNERS),
        )

    async def _page(
        self, incoming: Incoming, short_name: str, kind: presenter.Kind, task_id: int | None = None
    ) -> Response:
        if incoming.is_frame:
            return await self._frames.presenter(incoming, short_name, kind)
        row = await self._projects.page(short_name, incoming.who)
        if kind in ("newtask", "task"):
            self._require_account(incoming, row)
        if task_id is not None:
            await self._lease_or_find(incoming, row, task_id)
        context = await self._views.context(incoming, row)
        context["title"] = _TITLES[kind]
        if kind == "results":
            context["n_results"] = int(row["n_results"])
            if not presenter.source(row["info"], kind).strip():
                return await self._finished(incoming, row, context)
        if missing := _missing(row, kind):
            return Page("project/presenter.html", drawn_as="project/no_task.html", **context, _missing=missing)
        shown = await self._contexts.of(incoming.who, row, kind, task_id)
        prose = await self._views.prose([row["long_description"]])
        return Page("project/presenter.html", **context, _presenter=shown, _prose=prose)

    async def _lease_or_find(self, incoming: Incoming, row: Row, task_id: int) -> None:
        """Links are followed by crawlers and previews, too, and pictures may name them: those must not take a place."""
        if task_id > _MAX_ID:
            raise NotFoundError("404 Not Found")
        if self._confirm.acts(incoming):
            await self._contributions.hold(incoming.who, row["id"], task_id)
        else:
            await self._contributions.require_task(row["id"], task_id)

    def _require_account(self, incoming: Incoming, row: Row) -> None:
        if not row["allow_anonymous_contributors"] and not incoming.who.signed_in:
            raise AnonymousError(_("This project does not allow anonymous contributors"), code="members_only")


def _missing(row: Row, kind: presenter.Kind) -> str:
    """What a page needs and the project lacks: the presenter, the tutorial that is asked for, tasks; "" for nothing."""
    if kind == "results":
        return ""
    if not presenter.source(row["info"], kind).strip():
        return "tutorial" if kind == "tutorial" else "presenter"
    return "" if kind == "tutorial" or row["n_tasks"] else "tasks"
