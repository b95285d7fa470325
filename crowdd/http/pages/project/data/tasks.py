"""The tasks of a project: how far they are, a list to look through, and each with its answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from crowdd.domain.server.services import Services
from crowdd.domain.tasks.task_list import MAX_SORTED, Asked
from crowdd.errors import InvalidValueError
from crowdd.http import queries
from crowdd.http.html.forms import Forms
from crowdd.http.pages.project.views import ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Page, Redirect, Response
from crowdd.http.routing import Route, get
from crowdd.kinds.kind import OWNERS, Role
from crowdd.kinds.types import clean_text
from crowdd.languages import _
from crowdd.storage.projects.rows import ProjectPage

_AT = "/project/<short_name>/tasks"


class TaskPages:
    """``/project/<short_name>/tasks/`` and what only shows tasks below it."""

    def __init__(self, services: Services, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._browsing, self._leases = services.projects, services.browsing, services.leases
        self._forms, self._views = forms, views

    def routes(self) -> Iterator[Route]:
        yield get(f"{_AT}/", locked_out(self.overview))
        yield get(f"{_AT}/browse", locked_out(self.browse))
        yield get(f"{_AT}/browse/<int:page>", locked_out(self.browse))
        yield get(f"{_AT}/<int:task_id>", locked_out(self.task))
        yield get("/project/<short_name>/<int:task_id>/results.json", locked_out(self.answers))

    async def overview(self, incoming: Incoming, short_name: str) -> Response:
        """How far they are, and the ways to everything else about them (interface: page-tasks)."""
        row = await self._projects.page(short_name, incoming.who)
        context = await self._views.context(incoming, row)
        return Page(
            "project/tasks.html", **context, autoimporter_enabled=False, _owns=owns(row), _open=row["zip_download"]
        )

    async def browse(self, incoming: Incoming, short_name: str, page: int = 1) -> Response:
        """Tasks page by page. ``words``, ``state`` and ``orderby`` choose; ``id`` leads to one of them."""
        row = await self._projects.page(short_name, incoming.who)
        self._browsing.require(incoming.who, row)
        wanted = incoming.query.get("id", "").strip()
        if wanted and (found := await self._one(row, wanted)) is not None:
            return Redirect(f"/project/{quote(short_name)}/tasks/{found}")
        listed = await self._browsing.tasks(incoming.who, row, _asked(incoming, page))
        return Page(
            "project/browse.html",
            **await self._views.context(incoming, row),
            tasks=[{name: value for name, value in task.items() if name != "info_text"} for task in listed.tasks],
            pagination=listed.pagination,
            chosen=_chosen(incoming),
            _rows=listed.tasks,
            _owns=owns(row),
            _sorts=int(row["n_tasks"]) <= MAX_SORTED,
            _missing=wanted,
        )

    async def _one(self, row: ProjectPage, wanted: str) -> int | None:
        """The task that a number names, or None."""
        number = int(wanted) if wanted.isascii() and wanted.isdigit() else None
        return number if number is not None and await self._browsing.has(row, number) else None

    async def task(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """One task with everything that was answered; behind ``last_id`` when it is much."""
        row = await self._projects.page(short_name, incoming.who)
        after = queries.number(incoming.query.get("last_id", ""), "last_id", 0)
        found = await self._browsing.task(incoming.who, row, task_id, after)
        volunteers, counted = found.pop("volunteers"), found.pop("counted")
        return Page(
            "project/task.html",
            **await self._views.context(incoming, row),
            **found,
            csrf=self._forms.csrf.token(incoming),
            _volunteers=volunteers,
            _counted=counted,
            _owns=owns(row),
            _skips=await self._leases.skips(row["id"], task_id) if owns(row) else {},
        )

    async def answers(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """The answers to a task alone, up to a hundred; ``last_id`` goes on (interface: page-tasks-results-json)."""
        row = await self._projects.page(short_name, incoming.who)
        after = queries.number(incoming.query.get("last_id", ""), "last_id", 0)
        return JsonResponse((await self._browsing.task(incoming.who, row, task_id, after))["task_runs"])


def owns(row: ProjectPage) -> bool:
    """Whether the requester runs the project."""
    roles: frozenset[Role] = row["roles"]
    return bool(roles & OWNERS)


def _asked(incoming: Incoming, page: int) -> Asked:
    query, chosen = incoming.query, _chosen(incoming)
    around = {name: queries.number(query[name], name, 0) for name in ("after", "before") if query.get(name)}
    if page < 1:
        raise InvalidValueError(_("Pages are counted from 1."))
    return Asked(
        page=page,
        state=chosen["state"],
        order=chosen["orderby"],
        descending=chosen["desc"],
        words=chosen["words"],
        **around,
    )


def _chosen(incoming: Incoming) -> dict[str, Any]:
    query = incoming.query
    return {
        "words": clean_text(query.get("words", "")).strip(),
        "state": query.get("state") or None,
        "orderby": query.get("orderby") or "id",
        "desc": queries.flag(query.get("desc", ""), "desc"),
    }
