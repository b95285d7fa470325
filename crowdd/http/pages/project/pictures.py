"""Pictures for the texts of a project: brought, listed with what a text says to show them, removed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from crowdd.domain.server.services import Services
from crowdd.errors import FormError
from crowdd.http import queries
from crowdd.http.html.forms import CORRECT, Forms
from crowdd.http.pages.project.views import ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.languages import _
from crowdd.storage.projects.rows import ProjectPage

_AT = "/project/<short_name>/pictures"
_MAX_ID = 2**63 - 1


class PicturePages:
    """``/project/<short_name>/pictures``."""

    def __init__(self, services: Services, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._pictures = services.projects, services.project_pictures
        self._forms, self._views = forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(_AT, locked_out(self.add))
        yield post(f"{_AT}/<int:picture_id>/delete", locked_out(self.remove))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """The newest, or those before one (``before``)."""
        return await self._page(incoming, await self._projects.owned(short_name, incoming.who), {})

    async def add(self, incoming: Incoming, short_name: str) -> Response:
        """Keeps the file ``picture``. Programs learn its ``path``, which a text names."""
        row = await self._projects.owned(short_name, incoming.who)
        sent = incoming.upload("picture") if incoming.content_type == "multipart/form-data" else None
        try:
            made = await self._pictures.add(incoming.who, row, sent)
        except FormError as error:
            return await self._page(incoming, row, error.errors)
        return Redirect(_path(short_name), _("The picture is uploaded."), more={"picture": made})

    async def remove(self, incoming: Incoming, short_name: str, picture_id: int) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        await self._pictures.remove(incoming.who, row, min(picture_id, _MAX_ID))
        return Redirect(_path(short_name), _("The picture is deleted."))

    async def _page(self, incoming: Incoming, row: ProjectPage, errors: dict[str, list[str]]) -> Response:
        before = incoming.query.get("before")
        found = await self._pictures.page(incoming.who, row, queries.number(before, "last_id", 0) if before else None)
        form = self._forms.refused(incoming, errors) if errors else self._forms.blank(incoming)
        said: dict[str, Any] = {"flash": CORRECT, "status": "error"} if errors else {}
        context = await self._views.context(incoming, row) | {"title": _("Pictures")}
        return Page(
            "project/pictures.html",
            **context,
            **said,
            form=form,
            pictures=found.pictures,
            next=found.next,
            _may_add=self._pictures.may_add(row),
            _story=row["long_description"],
        )


def _path(short_name: str) -> str:
    return f"/project/{quote(short_name)}/pictures"
