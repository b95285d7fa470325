"""How a project asks: the presenter, the tutorial and the page of results, with a preview that nobody else sees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

import orjson

from crowdd.domain.projects.file_access import readdressed
from crowdd.domain.server.services import Services
from crowdd.errors import FormError, NotFoundError, TooLargeError
from crowdd.http import starters
from crowdd.http.errors import message_of
from crowdd.http.html import presenter
from crowdd.http.html.forms import CORRECT, Forms
from crowdd.http.html.locales import locale_of
from crowdd.http.html.rendering import Templates
from crowdd.http.pages.project.presenters import editor_texts
from crowdd.http.pages.project.views import ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds import PROJECT, TASK
from crowdd.languages import _
from crowdd.languages.content_languages import direction_of
from crowdd.storage.core.listing import Query, equal
from crowdd.storage.projects.rows import ProjectPage

_AT: Final = "/project/<short_name>/tasks/taskpresentereditor"
_PARTS: Final = ("task_presenter", "tutorial", "results")
_SAMPLES = 5


class EditorPages:
    """``/project/<short_name>/tasks/taskpresentereditor``; ``part`` names which of the three texts."""

    def __init__(self, services: Services, forms: Forms, views: ProjectViews, templates: Templates) -> None:
        self._services, self._forms, self._views, self._templates = services, forms, views, templates
        self._https = services.settings.base_url.startswith("https:")

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.editor))
        yield post(_AT, locked_out(self.save))

    async def editor(self, incoming: Incoming, short_name: str) -> Response:
        """What there is, or a starter (``template``); without either the choice of starters."""
        if incoming.is_frame:
            return self._frame(incoming)
        row = await self._services.projects.owned(short_name, incoming.who)
        part, name = _part(incoming), incoming.query.get("template", "")
        stored = _stored(row, part)
        begun = _begun(name, starters.asked(stored) or {}) if name else stored
        form = self._forms.filled(incoming, id=row["id"], editor=begun)
        choose = part == "task_presenter" and not begun
        return await self._page(incoming, row, form, choose=choose)

    async def save(self, incoming: Incoming, short_name: str) -> Response:
        """Keeps the text ``editor`` with the words of its fields; ``btn`` = ``Start`` keeps a starter.

        ``begin`` only shows another starter, with what was typed. Without ``editor`` the words go into what is stored.
        """
        row = await self._services.projects.owned(short_name, incoming.who)
        part = _part(incoming)
        if incoming.field("btn") == "Start":
            return await self._start(incoming, row)
        if part == "task_presenter" and (name := incoming.field("begin")):
            return await self._begin(incoming, row, name)
        sent = editor_texts.sent_document(incoming, _stored(row, part))
        try:
            text = self._text(incoming, part, sent)
            await self._keep(incoming, row, part, text)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors) | {"id": row["id"], "editor": sent}
            return await self._page(incoming, row, form, flash=CORRECT, status="error")
        now = await self._services.projects.owned(short_name, incoming.who)
        return Redirect(_path(short_name, part), editor_texts.outcome(part, row, now))

    def _text(self, incoming: Incoming, part: str, sent: str) -> str:
        """What is to be stored. Raises FormError."""
        words = part == "task_presenter" and "question" in incoming.form
        text = editor_texts.worded(incoming, sent) if words else sent
        if not text.strip() and part == "task_presenter":
            raise FormError({"editor": [_("Volunteers need a presenter to see tasks. Start with a template.")]})
        return text

    async def _begin(self, incoming: Incoming, row: ProjectPage, name: str) -> Response:
        """Another starter in the place of what was sent; what was typed goes along, and nothing is stored."""
        sent = editor_texts.sent_document(incoming, _stored(row, "task_presenter"))
        form = self._forms.filled(incoming, id=row["id"], editor=_begun(name, editor_texts.wanted(incoming, sent)))
        return await self._page(incoming, row, form)

    async def _keep(self, incoming: Incoming, row: ProjectPage, part: str, text: str) -> None:
        try:
            await self._services.projects.tell(row, {part: text, **_declared(row, part, text)}, incoming.who)
        except TooLargeError as error:
            raise FormError({"editor": [message_of(error)]}) from None

    async def _start(self, incoming: Incoming, row: ProjectPage) -> Response:
        """A starter with the project's sentence as its question, where it is one; then on to the tasks."""
        document = _begun(incoming.field("template"), {})
        said = starters.asked(document) or {}
        if row["description"].strip().endswith("?"):
            document = starters.asking(document, said | {"question": row["description"].strip()})
        told = {"task_presenter": document, **_declared(row, "task_presenter", document)}
        await self._services.projects.tell(row, told, incoming.who)
        if not row["n_tasks"]:
            return Redirect(f"/project/{quote(row['short_name'])}/tasks/import", _("Saved. Next, add your tasks."))
        return Redirect(_path(row["short_name"], "task_presenter"), _("This is what volunteers will see."))

    async def _page(
        self, incoming: Incoming, row: ProjectPage, form: dict[str, Any], *, choose: bool = False, **said: Any
    ) -> Response:
        context = await self._views.context(incoming, row)
        part = _part(incoming)
        more: dict[str, Any] = {"form": form, "presenters": list(starters.NAMES), "_part": part, **said}
        if choose:
            return Page("project/task_presenter_options.html", **context, **more)
        more |= editor_texts.fields(incoming, form) if part == "task_presenter" else {"_asked": None}
        more["_unsaved"] = form["editor"] != _stored(row, part)
        preview = await self._preview(incoming, row, form["editor"])
        more["_columns"] = [] if preview["invented"] else editor_texts.columns(preview["tasks"])
        return Page("project/task_presenter_editor.html", **context, **more, _preview=preview)

    async def _preview(self, incoming: Incoming, row: ProjectPage, document: str) -> dict[str, Any]:
        """What the frame of the preview is told: the project as presenters see it, and some tasks."""
        query = Query(TASK, equal(TASK, project_id=row["id"]), limit=_SAMPLES)
        tasks = await self._services.records.list(query, incoming.who)
        shown = [{"id": task["id"], "project_id": row["id"], "info": task["info"]} for task in tasks]
        made_up = enumerate(starters.samples(document), 1)
        invented = [{"id": n, "project_id": row["id"], "info": info} for n, info in made_up]
        uploads = self._services.file_access.address(row)
        record = presenter.record(self._services.records.public_view(PROJECT, row), uploads)
        if uploads is not None:
            shown = orjson.loads(readdressed(orjson.dumps(shown).decode(), row, uploads))
        return {"project": record, "tasks": shown or invented, "invented": not shown}

    def _frame(self, incoming: Incoming) -> Response:
        """An empty document for the frame of the preview: the page around it brings the text."""
        locale = locale_of(incoming)
        context = {"title": _("Preview"), "locale": locale, "language": locale, "direction": direction_of(locale)}
        document = self._templates.render("project/preview.html", context)
        return BytesResponse(document.encode(), headers=presenter.frame_headers(https=self._https))


def _declared(row: ProjectPage, part: str, document: str) -> dict[str, str]:
    """Where a presenter made of a starter stores its answers, unless the owner has said which key it is."""
    known = part != "task_presenter" or "answer_key" in row["info"]
    return {} if known or starters.asked(document) is None else {"answer_key": starters.ANSWER_KEY}


def _part(incoming: Incoming) -> str:
    part = incoming.query.get("part") or "task_presenter"
    if part not in _PARTS:
        raise NotFoundError("404 Not Found")
    return part


def _stored(row: ProjectPage, part: str) -> str:
    found = row["info"].get(part)
    return starters.current(found) if isinstance(found, str) else ""


def _begun(name: str, words: starters.Asked) -> str:
    """A starter by its name, asking what was asked before."""
    found = starters.begun(name, words)
    if found is None:
        raise NotFoundError("404 Not Found")
    return found


def _path(short_name: str, part: str) -> str:
    at = f"/project/{quote(short_name)}/tasks/taskpresentereditor"
    return at if part == "task_presenter" else f"{at}?part={part}"
