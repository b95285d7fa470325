"""How a project asks: the presenter, the tutorial and the page of results, with a preview that nobody else sees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

import orjson

from crowdd.domain.domain import Domain
from crowdd.domain.file_access import readdressed
from crowdd.errors import FormError, InvalidValueError, NotFoundError, TooLargeError
from crowdd.http import presenter, starters
from crowdd.http.answers import Answer, Page, Raw, Redirect
from crowdd.http.errors import message_of
from crowdd.http.forms import CORRECT, Forms
from crowdd.http.incoming import Incoming
from crowdd.http.locales import locale_of
from crowdd.http.pages.project.views import ProjectViews, locked_out
from crowdd.http.rendering import Templates
from crowdd.http.routing import Route, get, post
from crowdd.kinds import PROJECT, TASK
from crowdd.languages import _
from crowdd.languages.tongues import direction_of
from crowdd.storage.database import Row

_AT: Final = "/project/<short_name>/tasks/taskpresentereditor"
_PARTS: Final = ("task_presenter", "tutorial", "results")
_SAMPLES, _MOST_ANSWERS, _MOST_LETTERS = 5, 40, 500


class EditorPages:
    """``/project/<short_name>/tasks/taskpresentereditor``; ``part`` names which of the three texts."""

    def __init__(self, domain: Domain, forms: Forms, views: ProjectViews, templates: Templates) -> None:
        self._domain, self._forms, self._views, self._templates = domain, forms, views, templates
        self._https = domain.settings.base_url.startswith("https:")

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.editor))
        yield post(_AT, locked_out(self.save))

    async def editor(self, incoming: Incoming, short_name: str) -> Answer:
        """What there is, or a starter (``template``); without either the choice of starters."""
        if incoming.is_frame:
            return self._frame(incoming)
        row = await self._domain.projects.owned(short_name, incoming.who)
        part, name = _part(incoming), incoming.query.get("template", "")
        stored = row["info"].get(part) or ""
        begun = _starter(name) if name else stored
        form = self._forms.filled(incoming, id=row["id"], editor=begun)
        choose = part == "task_presenter" and not begun
        return await self._page(incoming, row, form, choose=choose)

    async def save(self, incoming: Incoming, short_name: str) -> Answer:
        """Keeps the text ``editor``; with ``btn`` = ``Start`` a starter, ``Words`` what is asked of one."""
        row = await self._domain.projects.owned(short_name, incoming.who)
        part, button = _part(incoming), incoming.field("btn")
        try:
            if button == "Start":
                return await self._start(incoming, row)
            text = self._worded(incoming, row) if button == "Words" else incoming.field("editor")
            if not text.strip() and part == "task_presenter":
                raise FormError({"editor": [_("Without this a volunteer sees nothing. Begin with a starter.")]})
            await self._keep(incoming, row, part, text)
        except FormError as error:
            form = self._forms.refused(incoming, error.errors) | {"id": row["id"]}
            form["editor"] = incoming.field("editor") or row["info"].get(part) or ""
            return await self._page(incoming, row, form, flash=CORRECT, status="error")
        return Redirect(_path(short_name, part), _("It is saved. This is what volunteers see from now on."))

    async def _keep(self, incoming: Incoming, row: Row, part: str, text: str) -> None:
        try:
            await self._domain.projects.tell(row, {part: text}, incoming.who)
        except TooLargeError as error:
            raise FormError({"editor": [message_of(error)]}) from None

    async def _start(self, incoming: Incoming, row: Row) -> Answer:
        """A starter with the project's sentence as its question, where it is one; then on to the tasks."""
        document = _starter(incoming.field("template"))
        said = starters.asked(document) or {}
        if row["description"].strip().endswith("?"):
            document = starters.asking(document, said | {"question": row["description"].strip()})
        await self._domain.projects.tell(row, {"task_presenter": document}, incoming.who)
        if not row["n_tasks"]:
            return Redirect(
                f"/project/{quote(row['short_name'])}/tasks/import", _("That is settled. Now bring your tasks.")
            )
        return Redirect(_path(row["short_name"], "task_presenter"), _("This is what volunteers will see."))

    def _worded(self, incoming: Incoming, row: Row) -> str:
        document = row["info"].get("task_presenter") or ""
        said = starters.asked(document)
        if said is None:
            raise InvalidValueError(_("This presenter has no words that can be changed apart."))
        question, unsure = (incoming.field(name).strip()[:_MOST_LETTERS] for name in ("question", "unsure"))
        wrong: dict[str, list[str]] = {} if question else {"question": [_("Please fill this in.")]}
        changed = said | {"question": question, "unsure": unsure}
        if "answers" in said:
            lines = [line.strip()[:_MOST_LETTERS] for line in incoming.field("answers").splitlines() if line.strip()]
            changed["answers"] = list(dict.fromkeys(lines))
            if not 1 <= len(changed["answers"]) <= _MOST_ANSWERS:
                wrong["answers"] = [_("Write 1 to %(most)s answers, each on a line of its own.", most=_MOST_ANSWERS)]
        if wrong:
            raise FormError(wrong)
        return starters.asking(document, changed)

    async def _page(
        self, incoming: Incoming, row: Row, form: dict[str, Any], *, choose: bool = False, **said: Any
    ) -> Answer:
        context = await self._views.context(incoming, row)
        part = _part(incoming)
        more: dict[str, Any] = {"form": form, "presenters": list(starters.NAMES), "_part": part, **said}
        if choose:
            return Page("project/task_presenter_options.html", **context, **more)
        words = starters.asked(form["editor"]) if part == "task_presenter" else None
        if words is not None and form["errors"].keys() & {"question", "answers"}:
            words |= {"question": incoming.field("question"), "answers": incoming.field("answers").splitlines()}
        preview = await self._preview(incoming, row, form["editor"])
        return Page("project/task_presenter_editor.html", **context, **more, _asked=words, _preview=preview)

    async def _preview(self, incoming: Incoming, row: Row, document: str) -> dict[str, Any]:
        """What the frame of the preview is told: the project as presenters see it, and some tasks."""
        asked = {"project_id": str(row["id"]), "limit": str(_SAMPLES), "all": "1"}
        tasks = await self._domain.records.list(TASK, incoming.who, asked)
        shown = [{"id": task["id"], "project_id": row["id"], "info": task["info"]} for task in tasks]
        made_up = enumerate(starters.samples(document), 1)
        invented = [{"id": n, "project_id": row["id"], "info": info} for n, info in made_up]
        uploads = self._domain.file_access.address(row)
        record = presenter.record(self._domain.records.public_view(PROJECT, row), uploads)
        if uploads is not None:
            shown = orjson.loads(readdressed(orjson.dumps(shown).decode(), row, uploads))
        return {"project": record, "tasks": shown or invented, "invented": not shown}

    def _frame(self, incoming: Incoming) -> Answer:
        """An empty document for the frame of the preview: the page around it brings the text."""
        locale = locale_of(incoming)
        context = {"title": _("Preview"), "locale": locale, "language": locale, "direction": direction_of(locale)}
        document = self._templates.render("project/preview.html", context)
        return Raw(document.encode(), headers=presenter.frame_headers(https=self._https))


def _part(incoming: Incoming) -> str:
    part = incoming.query.get("part") or "task_presenter"
    if part not in _PARTS:
        raise NotFoundError("404 Not Found")
    return part


def _starter(name: str) -> str:
    found = starters.source(name)
    if found is None:
        raise NotFoundError("404 Not Found")
    return found


def _path(short_name: str, part: str) -> str:
    at = f"/project/{quote(short_name)}/tasks/taskpresentereditor"
    return at if part == "task_presenter" else f"{at}?part={part}"
