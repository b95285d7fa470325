"""The volunteer's page: the frame with a project's presenter, and the page around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crowdd.domain.projects.file_access import readdressed
from crowdd.domain.server.services import Services
from crowdd.domain.tasks.finished_tasks import Finished
from crowdd.errors import AnonymousError, NotFoundError
from crowdd.http import queries
from crowdd.http.auth.confirmation import Confirm
from crowdd.http.html import presenter
from crowdd.http.html.locales import locale_of
from crowdd.http.html.rendering import Templates
from crowdd.http.pages.project.presenters import result_rows
from crowdd.http.pages.project.views import ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Page, Response
from crowdd.http.routing import Route, get
from crowdd.kinds import PROJECT
from crowdd.kinds.kind import OWNERS
from crowdd.languages import _
from crowdd.languages.content_languages import direction_of, language_of
from crowdd.storage.projects.rows import ProjectPage

_TITLES: dict[presenter.Kind, str] = {
    "newtask": _("Contribute"),
    "task": _("Contribute"),
    "tutorial": _("Tutorial"),
    "results": _("Results"),
}
_MAX_ID = 2**63 - 1


class PresentingPages:
    """newtask, task, tutorial and results: one page, whose frame shows what the owner wrote for it."""

    def __init__(self, services: Services, confirm: Confirm, views: ProjectViews, templates: Templates) -> None:
        self._services, self._confirm, self._views, self._templates = services, confirm, views, templates
        self._https = services.settings.base_url.startswith("https:")

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

    async def _finished(self, incoming: Incoming, row: ProjectPage, context: dict[str, Any]) -> Response:
        """The finished tasks, for those who may see answers."""
        before = incoming.query.get("before", "")
        sees = self._services.finished_tasks.may_see(row)
        earlier = queries.number(before, "before", 0) if before else None
        found = await self._services.finished_tasks.page(row, earlier) if sees else Finished([], None)
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
            return await self._frame(incoming, short_name, kind)
        row = await self._services.projects.page(short_name, incoming.who)
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
        shown = await self._presenter(incoming, row, kind, task_id)
        prose = await self._views.prose([row["long_description"]])
        return Page("project/presenter.html", **context, _presenter=shown, _prose=prose)

    async def _presenter(
        self, incoming: Incoming, row: ProjectPage, kind: presenter.Kind, task_id: int | None
    ) -> dict[str, Any]:
        project = self._services.records.public_view(PROJECT, row)
        who = incoming.who
        mine = await self._services.contributions.progress(who, row["id"])
        return presenter.page_context(
            kind,
            project,
            task_id=task_id,
            volunteer=who.user_id,
            own_count=mine["done"],
            rank=await self._rank(who.user_id),
            progress=(int(row["n_completed_tasks"]), int(row["n_tasks"])),
            share=int(row["overall_progress"]),
            uploads=self._services.file_access.address(row),
        )

    async def _rank(self, user_id: int | None) -> int | None:
        """The place of an account among those who have answered."""
        profile = None if user_id is None else await self._services.accounts.profile(user_id)
        return profile["rank"] if profile is not None and profile["score"] else None

    async def _lease_or_find(self, incoming: Incoming, row: ProjectPage, task_id: int) -> None:
        """Links are followed by crawlers and previews, too, and pictures may name them: those must not take a place."""
        if task_id > _MAX_ID:
            raise NotFoundError("404 Not Found")
        if self._confirm.acts(incoming):
            await self._services.contributions.hold(incoming.who, row["id"], task_id)
        else:
            await self._services.contributions.require_task(row["id"], task_id)

    async def _frame(self, incoming: Incoming, short_name: str, kind: presenter.Kind) -> Response:
        """The owner's own document: nothing of the volunteer is in it but his language."""
        row = await self._services.projects.page(short_name, incoming.who)
        locale, own = locale_of(incoming), language_of(row["info"])
        context = {
            "title": row["name"],
            "source": readdressed(presenter.source(row["info"], kind), row, self._services.file_access.address(row)),
            "locale": locale,
            "language": own or locale,
            "direction": direction_of(own or locale),
        }
        document = self._templates.render("project/frame.html", context)
        return BytesResponse(document.encode(), headers=presenter.frame_headers(https=self._https))

    def _require_account(self, incoming: Incoming, row: ProjectPage) -> None:
        if not row["allow_anonymous_contributors"] and not incoming.who.signed_in:
            raise AnonymousError(_("This project does not allow anonymous contributors"), code="members_only")


def _missing(row: ProjectPage, kind: presenter.Kind) -> str:
    """What a page needs and the project lacks: the presenter, the tutorial that is asked for, tasks; "" for nothing."""
    if kind == "results":
        return ""
    if not presenter.source(row["info"], kind).strip():
        return "tutorial" if kind == "tutorial" else "presenter"
    return "" if kind == "tutorial" or row["n_tasks"] else "tasks"
