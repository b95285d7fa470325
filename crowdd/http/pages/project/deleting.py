"""The end of a project: its name typed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from crowdd.domain.domain import Domain
from crowdd.http.answers import Answer, Page, Redirect
from crowdd.http.forms import CORRECT, Forms
from crowdd.http.incoming import Incoming
from crowdd.http.pages.project.views import ProjectViews, locked_out
from crowdd.http.routing import Route, get, post
from crowdd.kinds import PROJECT
from crowdd.languages import _
from crowdd.storage.database import Row

_AT = "/project/<short_name>/delete"


class DeletingPages:
    """``/project/<short_name>/delete``."""

    def __init__(self, domain: Domain, forms: Forms, views: ProjectViews) -> None:
        self._domain, self._forms, self._views = domain, forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.form))
        yield post(_AT, locked_out(self.delete))

    async def form(self, incoming: Incoming, short_name: str) -> Answer:
        row = await self._domain.projects.owned(short_name, incoming.who)
        return await self._page(incoming, row, {})

    async def delete(self, incoming: Incoming, short_name: str) -> Answer:
        """``confirm`` is the short name, typed; a program that leaves it out means what it says, as with DELETE."""
        row = await self._domain.projects.owned(short_name, incoming.who)
        unasked = incoming.content_type == "application/json" and "confirm" not in incoming.form
        if not unasked and incoming.field("confirm").strip() != row["short_name"]:
            wrong = {"confirm": [_("Type the short name of the project exactly.")]}
            return await self._page(incoming, row, wrong, flash=CORRECT, status="error")
        await self._domain.records.delete(PROJECT, incoming.who, row["id"])
        return Redirect(f"/account/{quote(incoming.who.user_name)}/", _("Project deleted!"))

    async def _page(self, incoming: Incoming, row: Row, errors: dict[str, list[str]], **said: Any) -> Answer:
        context = await self._views.context(incoming, row)
        form = self._forms.refused(incoming, errors, "confirm") if errors else self._forms.blank(incoming, "confirm")
        return Page("project/delete.html", **context, csrf=form["csrf"], form=form, **said)
