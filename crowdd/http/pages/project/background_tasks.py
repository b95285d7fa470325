"""Long work about a project, for those who run it: how far it is, how fast, and how to end it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from crowdd.domain.core.records import NOT_FOUND
from crowdd.domain.server.services import Services
from crowdd.errors import ConflictError, NotFoundError
from crowdd.http import queries
from crowdd.http.html.forms import Forms
from crowdd.http.pages.project.views import ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.languages import _
from crowdd.storage.projects.rows import ProjectPage

_AT = "/project/<short_name>/queue"
_SHOWN = 20
_MAX_ID = 2**63 - 1


class WorkPages:
    """``/project/<short_name>/queue``."""

    def __init__(self, services: Services, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._queue = services.projects, services.queue
        self._forms, self._views = forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(f"{_AT}/<int:item_id>/cancel", locked_out(self.cancel))
        yield post(f"{_AT}/<int:item_id>/retry", locked_out(self.retry))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The newest work about the project, or what came before one (``before``); ``id`` shows one alone."""
        row = await self._projects.owned(short_name, incoming.who)
        items = await self._items(incoming, row)
        return Page(
            "project/queue.html",
            **await self._views.context(incoming, row) | {"title": _("Background tasks")},
            items=items,
            next=items[-1]["id"] if len(items) == _SHOWN else None,
            csrf=self._forms.csrf.token(incoming),
        )

    async def _items(self, incoming: Incoming, row: ProjectPage) -> list[dict[str, Any]]:
        query = incoming.query
        if query.get("id"):
            return [_outward(await self._one(incoming, row, queries.number(query["id"], "id", 0)))]
        before = queries.number(query["before"], "before", 0) if query.get("before") else None
        chosen = {"project_id": row["id"], "before": before, "limit": _SHOWN}
        found = await self._queue.list(incoming.who, everybodys=incoming.who.acting_admin, **chosen)
        return [_outward(item) for item in found]

    async def _one(self, incoming: Incoming, row: ProjectPage, item_id: int) -> dict[str, Any]:
        item = await self._queue.get(incoming.who, item_id) if item_id <= _MAX_ID else None
        if item is None or item["project_id"] != row["id"]:
            raise NotFoundError(NOT_FOUND)
        return item

    async def cancel(self, incoming: Incoming, short_name: str, item_id: int) -> Response:
        """Ends it at its next step; what was done until then stays."""
        words = _("The task will stop at its next step. Changes made so far are kept.")
        return await self._act(incoming, short_name, item_id, self._queue.cancel, words)

    async def retry(self, incoming: Incoming, short_name: str, item_id: int) -> Response:
        """Lets it go on where it stopped."""
        return await self._act(
            incoming, short_name, item_id, self._queue.retry, _("The task will continue where it stopped.")
        )

    async def _act(self, incoming: Incoming, short_name: str, item_id: int, act: Any, words: str) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        await self._one(incoming, row, item_id)
        here = f"/project/{quote(short_name)}/queue"
        try:
            item = await act(incoming.who, item_id)
        except ConflictError as error:
            return Redirect(here, error.args[0], "error")
        return Redirect(here, words, more={"item": _outward(item)})


def _outward(item: dict[str, Any]) -> dict[str, Any]:
    return {name: outward(value) for name, value in item.items()}
