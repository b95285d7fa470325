"""The background tasks of a project, for its owners: their progress, cancelling and retrying."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from urllib.parse import quote

from crowdd.domain.core.background_queue import Queue
from crowdd.domain.core.records import NOT_FOUND
from crowdd.domain.projects.projects import Projects
from crowdd.errors import ConflictError, NotFoundError
from crowdd.http import queries
from crowdd.http.html.forms import Forms
from crowdd.http.pages.project.views import ProjectPublic, ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.languages import _
from crowdd.requester import Requester
from crowdd.storage.projects.rows import ProjectPage
from crowdd.values import Values

_AT = "/project/<short_name>/queue"
_SHOWN = 20
_MAX_ID = 2**63 - 1


class QueuePublic(ProjectPublic):
    items: list[Values]
    next: int | None
    csrf: str


class WorkPages:
    """``/project/<short_name>/queue``."""

    def __init__(self, projects: Projects, queue: Queue, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._queue, self._forms, self._views = projects, queue, forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(f"{_AT}/<int:item_id>/cancel", locked_out(self.cancel))
        yield post(f"{_AT}/<int:item_id>/retry", locked_out(self.retry))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The newest tasks, or those before one (``before``). ``id`` shows one task alone."""
        row = await self._projects.owned(short_name, incoming.who)
        items = await self._items(incoming, row)
        context = await self._views.context(incoming, row, _("Background tasks"))
        public = QueuePublic(
            **context.public,
            items=items,
            next=items[-1]["id"] if len(items) == _SHOWN else None,
            csrf=self._forms.csrf.token(incoming),
        )
        return Page("project/queue.html", public, context.private)

    async def _items(self, incoming: Incoming, row: ProjectPage) -> list[Values]:
        query = incoming.query
        if query.get("id"):
            return [_outward(await self._one(incoming, row, queries.number(query["id"], "id", 0)))]
        before = queries.number(query["before"], "before", 0) if query.get("before") else None
        found = await self._queue.list(
            incoming.who, everybodys=incoming.who.acting_admin, project_id=row["id"], before=before, limit=_SHOWN
        )
        return [_outward(item) for item in found]

    async def _one(self, incoming: Incoming, row: ProjectPage, item_id: int) -> Values:
        item = await self._queue.get(incoming.who, item_id) if item_id <= _MAX_ID else None
        if item is None or item["project_id"] != row["id"]:
            raise NotFoundError(NOT_FOUND)
        return item

    async def cancel(self, incoming: Incoming, short_name: str, item_id: int) -> Response:
        """Stops the task at its next step. What it has done until then stays."""
        words = _("The background task will stop at its next step. Changes made so far are kept.")
        return await self._act(incoming, short_name, item_id, self._queue.cancel, words)

    async def retry(self, incoming: Incoming, short_name: str, item_id: int) -> Response:
        """Continues the task where it stopped."""
        return await self._act(
            incoming, short_name, item_id, self._queue.retry, _("The background task will continue where it stopped.")
        )

    async def _act(
        self,
        incoming: Incoming,
        short_name: str,
        item_id: int,
        act: Callable[[Requester, int], Awaitable[Values]],
        words: str,
    ) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        await self._one(incoming, row, item_id)
        here = f"/project/{quote(short_name)}/queue"
        try:
            item = await act(incoming.who, item_id)
        except ConflictError as error:
            return Redirect(here, error.args[0], "error")
        return Redirect(here, words, more={"item": _outward(item)})


def _outward(item: Values) -> Values:
    return {name: outward(value) for name, value in item.items()}
