"""The background tasks of a project, for its owners: their progress, cancelling and retrying."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TypedDict
from urllib.parse import quote

from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http import queries
from crowdd.http.auth.csrf import Csrf
from crowdd.http.html.tables import RowList, WithTable, page_csv
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import NOT_FOUND, ConflictError, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.kind import outward
from crowdd.sched.queue import STATES, Queue, view

_AT = "/project/<short_name>/queue"
_PEOPLE, _PROGRAMS = RowList(per_page=25), RowList(per_page=20)
_COLUMNS = ("id", "name", "state", "created", "began", "ended", "done", "total", "error")
_MAX_ID = 2**63 - 1


class ChosenState(TypedDict):
    """The state by which a list is filtered; None for all."""

    state: str | None


class QueuePublic(ProjectPublic):
    items: list[Values]
    chosen: ChosenState
    next: int | None
    csrf: str


class QueuePrivate(ProjectPrivate, WithTable):
    """The table around the items."""


class WorkPages:
    """``/project/<short_name>/queue``."""

    def __init__(self, projects: Projects, queue: Queue, csrf: Csrf, views: ProjectViews) -> None:
        self._projects, self._queue, self._csrf, self._views = projects, queue, csrf, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(f"{_AT}/<int:item_id>/cancel", locked_out(self.cancel))
        yield post(f"{_AT}/<int:item_id>/retry", locked_out(self.retry))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """A page of them, perhaps only those of a ``state``. ``id`` shows one task alone."""
        row = await self._projects.owned(short_name, incoming.who)
        rows = _PROGRAMS if incoming.wants_json else _PEOPLE
        place, state = rows.place(incoming), _state_in(incoming)
        part = await self._part(incoming, row, place, state)
        items = [_outward(item) for item in part.rows]
        if incoming.query.get("csv") and not incoming.wants_json:
            return page_csv(f"{row['short_name']}_queue", _COLUMNS, items)
        context = await self._views.context(incoming, row, _("Background tasks"))
        public = QueuePublic(
            **context.public,
            items=items,
            chosen={"state": state},
            next=items[-1]["id"] if part.next else None,
            csrf=self._csrf.token(incoming),
        )
        drawn = rows.drawn(place, {"state": state or ""}, part, lambda item: int(item["id"]))
        return Page("project/queue.html", public, QueuePrivate(**context.private, **drawn))

    async def _part(self, incoming: Incoming, row: ProjectPage, place: Keyset, state: str | None) -> KeysetPage[Values]:
        query = incoming.query
        if query.get("id"):
            one = await self._one(incoming, row, queries.parse_number(query["id"], "id", 0))
            return KeysetPage([one], previous=False, next=False)
        page = await self._queue.of_project(incoming.who, row["id"], place, state)
        return KeysetPage([view(item) for item in page.rows], page.previous, page.next)

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


def _state_in(incoming: Incoming) -> str | None:
    state = incoming.query.get("state") or None
    if state is not None and state not in STATES:
        raise InvalidValueError(_("Unknown state."))
    return state


def _outward(item: Values) -> Values:
    return {name: outward(value) for name, value in item.items()}
