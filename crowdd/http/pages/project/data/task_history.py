"""What a task, its answers and its result were at a time: for those who run the project."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.projects.projects import Projects
from crowdd.domain.tasks.history import History
from crowdd.errors import NotFoundError
from crowdd.http.api.objects import checked_id
from crowdd.http.pages.project.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.past_queries import moment
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response
from crowdd.http.routing import Route, get
from crowdd.kinds.types import iso
from crowdd.values import Values


class TaskHistoryPublic(ProjectPublic):
    """``times`` (``at``, ``what``): when it changed, the latest first. The rest is null unless a time is asked for."""

    task_id: int
    times: list[Values]
    at: str | None
    task: Values | None
    task_runs: list[Values] | None
    result: Values | None


class TaskHistoryPrivate(ProjectPrivate):
    """``now``: the task is still there. ``cut``: there may be earlier times."""

    now: bool
    cut: bool


class TaskHistoryPages:
    """``/project/<short_name>/tasks/<id>/history``."""

    def __init__(self, projects: Projects, history: History, views: ProjectViews) -> None:
        self._projects, self._history, self._views = projects, history, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/tasks/<int:task_id>/history", locked_out(self.page))

    async def page(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """When the task, its answers and its result changed; with ``at``, what they were.

        (interface: page-task-history)
        """
        row = await self._projects.owned(short_name, incoming.who)
        who, task_id = incoming.who, checked_id(task_id)
        times, cut = await self._history.times(who, row["id"], task_id)
        if not times and not await self._history.exists(row["id"], task_id):
            raise NotFoundError("404 Not Found")
        asked = incoming.query.get("at")
        at = moment(asked) if asked else None
        past = await self._history.task(who, row["id"], task_id, at) if at else None
        context = await self._views.context(incoming, row)
        public = TaskHistoryPublic(
            **context.public,
            task_id=task_id,
            times=[{"at": iso(time["at"]), "what": time["what"]} for time in times],
            at=iso(at) if at else None,
            task=past.task if past else None,
            task_runs=past.answers if past else None,
            result=past.result if past else None,
        )
        exists = not times or "deleted" not in times[0]["what"]
        return Page(
            "project/task_history.html",
            public,
            TaskHistoryPrivate(**context.private, now=exists, cut=cut),
        )
