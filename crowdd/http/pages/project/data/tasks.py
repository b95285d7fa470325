"""The tasks of a project: their progress, a list, and each task with its answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict
from urllib.parse import quote

from crowdd.domain.projects.projects import Projects
from crowdd.domain.tasks.leases import Leases
from crowdd.domain.tasks.task_list import MAX_SORTED, Asked, Browsing, TaskPagination
from crowdd.errors import InvalidValueError
from crowdd.http import queries
from crowdd.http.html.forms import Forms
from crowdd.http.pages.project.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Page, Redirect, Response
from crowdd.http.routing import Route, get
from crowdd.kinds.roles import OWNERS, Role
from crowdd.kinds.types import clean_text
from crowdd.languages import _
from crowdd.storage.projects.rows import ProjectPage
from crowdd.values import Values

_AT = "/project/<short_name>/tasks"


class Chosen(TypedDict):
    """The filters and the order of the list."""

    words: str
    state: str | None
    orderby: str
    desc: bool


class TasksPublic(ProjectPublic):
    """``autoimporter_enabled`` is always false: crowdd has no automatic imports."""

    autoimporter_enabled: bool


class TasksPrivate(ProjectPrivate):
    """``open`` says whether everybody may export data."""

    owns: bool
    open: bool


class BrowsePublic(ProjectPublic):
    tasks: list[Values]
    pagination: TaskPagination
    chosen: Chosen


class BrowsePrivate(ProjectPrivate):
    """``rows`` are the tasks with ``info_text``; ``missing`` is the number of a task that was not found."""

    rows: list[Values]
    owns: bool
    sorts: bool
    missing: str


class TaskPublic(ProjectPublic):
    """``next`` is the answer that the next page begins after; ``agreement`` is None without counted answers."""

    task: Values
    task_runs: list[Values]
    agreement: Values | None
    next: int | None
    csrf: str


class TaskPrivate(ProjectPrivate):
    """``volunteers`` and ``counted`` go by the id of the answer; ``skips`` by the reason."""

    volunteers: dict[int, Values]
    counted: dict[int, bool]
    owns: bool
    skips: dict[str, int]


class TaskPages:
    """``/project/<short_name>/tasks/`` and the pages below it that only show tasks."""

    def __init__(
        self, projects: Projects, browsing: Browsing, leases: Leases, forms: Forms, views: ProjectViews
    ) -> None:
        self._projects, self._browsing, self._leases, self._forms = projects, browsing, leases, forms
        self._views = views

    def routes(self) -> Iterator[Route]:
        yield get(f"{_AT}/", locked_out(self.overview))
        yield get(f"{_AT}/browse", locked_out(self.browse))
        yield get(f"{_AT}/browse/<int:page>", locked_out(self.browse))
        yield get(f"{_AT}/<int:task_id>", locked_out(self.task))
        yield get("/project/<short_name>/<int:task_id>/results.json", locked_out(self.answers))

    async def overview(self, incoming: Incoming, short_name: str) -> Response:
        """Their progress, with links to everything else about them (interface: page-tasks)."""
        row = await self._projects.page(short_name, incoming.who)
        context = await self._views.context(incoming, row)
        private = TasksPrivate(**context.private, owns=owns(row), open=row["zip_download"])
        return Page("project/tasks.html", TasksPublic(**context.public, autoimporter_enabled=False), private)

    async def browse(self, incoming: Incoming, short_name: str, page: int = 1) -> Response:
        """A page of the list. ``words``, ``state`` and ``orderby`` filter and sort; ``id`` leads to one task."""
        row = await self._projects.page(short_name, incoming.who)
        self._browsing.require(incoming.who, row)
        wanted = incoming.query.get("id", "").strip()
        if wanted and (found := await self._one(row, wanted)) is not None:
            return Redirect(f"/project/{quote(short_name)}/tasks/{found}")
        listed = await self._browsing.tasks(incoming.who, row, _asked(incoming, page))
        context = await self._views.context(incoming, row)
        public = BrowsePublic(
            **context.public,
            tasks=[{name: value for name, value in task.items() if name != "info_text"} for task in listed.tasks],
            pagination=listed.pagination,
            chosen=_chosen(incoming),
        )
        sorts = int(row["n_tasks"]) <= MAX_SORTED
        private = BrowsePrivate(**context.private, rows=listed.tasks, owns=owns(row), sorts=sorts, missing=wanted)
        return Page("project/browse.html", public, private)

    async def _one(self, row: ProjectPage, wanted: str) -> int | None:
        """The task that a number names, or None."""
        number = int(wanted) if wanted.isascii() and wanted.isdigit() else None
        return number if number is not None and await self._browsing.has(row, number) else None

    async def task(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """One task with its answers; those after ``last_id`` if there are many."""
        row = await self._projects.page(short_name, incoming.who)
        after = queries.number(incoming.query.get("last_id", ""), "last_id", 0)
        found = await self._browsing.task(incoming.who, row, task_id, after)
        context = await self._views.context(incoming, row)
        public = TaskPublic(
            **context.public,
            task=found["task"],
            task_runs=found["task_runs"],
            agreement=found["agreement"],
            next=found["next"],
            csrf=self._forms.csrf.token(incoming),
        )
        private = TaskPrivate(
            **context.private,
            volunteers=found["volunteers"],
            counted=found["counted"],
            owns=owns(row),
            skips=await self._leases.skips(row["id"], task_id) if owns(row) else {},
        )
        return Page("project/task.html", public, private)

    async def answers(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Up to a hundred answers to a task, those after ``last_id`` (interface: page-tasks-results-json)."""
        row = await self._projects.page(short_name, incoming.who)
        after = queries.number(incoming.query.get("last_id", ""), "last_id", 0)
        return JsonResponse((await self._browsing.task(incoming.who, row, task_id, after))["task_runs"])


def owns(row: ProjectPage) -> bool:
    """Whether the requester is an owner of the project."""
    roles: frozenset[Role] = row["roles"]
    return bool(roles & OWNERS)


def _asked(incoming: Incoming, page: int) -> Asked:
    query, chosen = incoming.query, _chosen(incoming)
    around = {name: queries.number(query[name], name, 0) for name in ("after", "before") if query.get(name)}
    if page < 1:
        raise InvalidValueError(_("The page number must be 1 or more."))
    return Asked(
        page=page,
        state=chosen["state"],
        order=chosen["orderby"],
        descending=chosen["desc"],
        words=chosen["words"],
        **around,
    )


def _chosen(incoming: Incoming) -> Chosen:
    query = incoming.query
    return Chosen(
        words=clean_text(query.get("words", "")).strip(),
        state=query.get("state") or None,
        orderby=query.get("orderby") or "id",
        desc=queries.flag(query.get("desc", ""), "desc"),
    )
