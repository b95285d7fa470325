"""Everything that an owner may set, in one place; and the key for external users."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from crowdd.domain.projects.serializers import person
from crowdd.domain.server.services import Services
from crowdd.errors import InvalidValueError
from crowdd.http.html.forms import CORRECT, Forms
from crowdd.http.pages.project.views import ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds import PROJECT
from crowdd.kinds.task_run import MAX_ANSWER_BYTES, MAX_RAISED_BYTES
from crowdd.kinds.types import Integer
from crowdd.languages import _
from crowdd.storage.projects.rows import ProjectPage


class ProjectSettingsPages:
    """``/project/<short_name>/settings`` and ``…/resetsecretkey``."""

    def __init__(self, services: Services, forms: Forms, views: ProjectViews) -> None:
        self._services, self._forms, self._views = services, forms, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/settings", locked_out(self.settings))
        yield post("/project/<short_name>/settings", locked_out(self.update))
        yield post("/project/<short_name>/resetsecretkey", locked_out(self.reset_secret_key))

    async def settings(self, incoming: Incoming, short_name: str) -> Response:
        """The project page's keys, for those who may change the project (interface: page-settings)."""
        row = await self._services.projects.owned(short_name, incoming.who)
        return await self._page(incoming, row, self._forms.filled(incoming, **_stored(row)))

    async def update(self, incoming: Incoming, short_name: str) -> Response:
        """How large an answer may be (``max_answer_kb``), or by which key answers are compared (``answer_key``)."""
        row = await self._services.projects.owned(short_name, incoming.who)
        if "answer_key" in incoming.form:
            return await self._update_key(incoming, row)
        minimum, maximum = MAX_ANSWER_BYTES // 1000, MAX_RAISED_BYTES // 1000
        try:
            size = Integer(minimum=minimum, maximum=maximum).parse(incoming.field("max_answer_kb"))
        except InvalidValueError:
            words = _("Enter a whole number from %(minimum)s to %(maximum)s.", minimum=minimum, maximum=f"{maximum:,}")
            return await self._refused(incoming, row, {"max_answer_kb": [words]})
        await self._services.projects.tell(row, {"max_answer_bytes": size * 1000}, incoming.who)
        return Redirect(f"/project/{quote(short_name)}/settings", _("The maximum size of answers has been changed."))

    async def _update_key(self, incoming: Incoming, row: ProjectPage) -> Response:
        key = incoming.field("answer_key").strip()
        try:
            await self._services.projects.tell(row, {"answer_key": key or None}, incoming.who)
        except InvalidValueError as error:
            return await self._refused(incoming, row, {"answer_key": [error.args[0]]})
        return Redirect(f"/project/{quote(row['short_name'])}/settings", _("The answer key is saved."))

    async def _refused(self, incoming: Incoming, row: ProjectPage, wrong: dict[str, list[str]]) -> Response:
        """The page with the form that was sent as it was sent, the other as stored."""
        form = self._forms.refused(incoming, wrong, *wrong)
        return await self._page(incoming, row, _stored(row) | form, flash=CORRECT, status="error")

    async def _page(self, incoming: Incoming, row: ProjectPage, form: dict[str, Any], **said: Any) -> Response:
        context = await self._views.context(incoming, row)
        owners = await self._services.ownership.owners(row)
        shown = [person(each) | {"is_creator": each["is_creator"]} for each in owners]
        return Page(
            "project/settings.html",
            **context,
            **said,
            form=form,
            max_answer_bytes=row["info"].get("max_answer_bytes") or MAX_ANSWER_BYTES,
            _coowners=shown,
            _keys=await self._services.browsing.answer_keys(row["id"]),
            _locked=row["lock_id"] is not None,
            _deletes=bool(row["roles"] & PROJECT.rights.delete),
        )

    async def reset_secret_key(self, incoming: Incoming, short_name: str) -> Response:
        row = await self._services.projects.owned(short_name, incoming.who)
        await self._services.ownership.reset_secret_key(row, incoming.who)
        words = _("The project has a new secret key. Tokens signed with the old one no longer work.")
        return Redirect(f"/project/{quote(short_name)}/settings", words)


def _stored(row: ProjectPage) -> dict[str, Any]:
    info = row["info"]
    raised = info.get("max_answer_bytes")
    limit = raised if isinstance(raised, int) and raised else MAX_ANSWER_BYTES
    return {"max_answer_kb": limit // 1000, "answer_key": info.get("answer_key")}
