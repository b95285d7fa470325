"""Data in: an owner brings a file, says what its columns are, and looks on while tasks come of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO
from urllib.parse import quote

from crowdd.domain.core.csv_escape import harmless
from crowdd.domain.server.services import Services
from crowdd.domain.transfer.import_rows import USES
from crowdd.domain.transfer.imports import Begun, Choices, ImportPage
from crowdd.domain.transfer.task_files import ENCODINGS
from crowdd.errors import (
    ConflictError,
    InvalidValueError,
    TooLargeError,
    TooManyRequestsError,
    UnreachableError,
)
from crowdd.http.html.forms import Forms
from crowdd.http.html.presenter import api_headers
from crowdd.http.pages.project.views import ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.languages import _, ngettext
from crowdd.storage.projects.rows import ProjectPage
from crowdd.storage.transfer.imports import KEPT_ERRORS

_AT = "/project/<short_name>/tasks/import"
IMPORTERS = ("localCSV", "csv")  # PyBossa's names: a file, an address
_HIDDEN = frozenset({"file", "project_id", "user_id", "usual", "checked", "auto"})
_TAB = "\t"
SHOWN_REFUSED = 5  # rows
_REFUSALS = (InvalidValueError, UnreachableError, TooLargeError, TooManyRequestsError)


class ImportPages:
    """``/project/<short_name>/tasks/import`` and each import below it."""

    def __init__(self, services: Services, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._imports = services.projects, services.imports
        self._forms, self._views = forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.first))
        yield post(_AT, locked_out(self.bring))
        yield get(f"{_AT}/<int:import_id>", locked_out(self.one))
        yield post(f"{_AT}/<int:import_id>", locked_out(self.begin))
        yield post(f"{_AT}/<int:import_id>/forget", locked_out(self.forget))
        yield get(f"{_AT}/<int:import_id>/errors", locked_out(self.errors))
        yield get(f"{_AT}/<int:import_id>/gone", locked_out(self.gone))
        yield post(f"{_AT}/<int:import_id>/gone", locked_out(self.retire_gone))

    async def first(self, incoming: Incoming, short_name: str) -> Response:
        """Where a file is brought to; ``type`` chooses one of the importers (interface: page-import)."""
        row = await self._projects.owned(short_name, incoming.who)
        type_ = incoming.query.get("type") or IMPORTERS[0]
        if type_ not in IMPORTERS:
            raise InvalidValueError(_("Unknown importer."))
        form = self._forms.filled(incoming, form_name=type_, csv_url=None, rows=None)
        return await self._first(incoming, row, form)

    async def _first(self, incoming: Incoming, row: ProjectPage, form: dict[str, Any], **said: Any) -> Response:
        newest = await self._imports.newest(incoming.who, row)
        context = await self._views.context(incoming, row) | {"title": _("Add tasks")}
        return Page(
            "project/import.html",
            **context,
            available_importers=list(IMPORTERS),
            task_tmpls=[],
            target="project.import_task",
            loading_text=_("Importing tasks, this may take a while, wait..."),
            form=form,
            imports=[_outward(each) for each in newest],
            _max_bytes=self._imports.max_bytes,
            **said,
        )

    async def bring(self, incoming: Incoming, short_name: str) -> Response:
        """Takes a file (``file``), pasted ``rows``, or fetches one (``csv_url``). ``map``: it waits to be looked at."""
        row = await self._projects.owned(short_name, incoming.who)
        try:
            choices = _choices(incoming, begin=not incoming.flag("map", False))
            import_id = await self._brought(incoming, row, choices)
            if not choices.begin:
                return Redirect(f"{_at(short_name)}/{import_id}", more={"import": import_id})
            begun = await self._imports.go_on(incoming.who, row, import_id, Choices(on_error=choices.on_error))
        except _REFUSALS as error:
            return await self._refused(incoming, row, error)
        return _begun(short_name, import_id, begun)

    async def _brought(self, incoming: Incoming, row: ProjectPage, choices: Choices) -> int:
        address = incoming.field("csv_url").strip() or incoming.field("url").strip()
        found = incoming.file("file", "csv_filename")
        if found is not None:
            return await self._imports.bring(incoming.who, row, *found, choices)
        if address:
            return await self._imports.fetch(incoming.who, row, address, choices)
        if "rows" in incoming.form:
            return await self._imports.bring(incoming.who, row, *_pasted(incoming), choices)
        raise InvalidValueError(_("Choose a file, or give its address."))

    async def _refused(self, incoming: Incoming, row: ProjectPage, error: Exception) -> Response:
        words = error.args[0] if error.args else _("The file was refused.")
        form = self._forms.refused(incoming, {_wrong_field(incoming): [words]}, "form_name", "csv_url")
        form["rows"] = _shown_again(incoming.form.get("rows"))
        return await self._first(incoming, row, form, flash=words, status="error")

    async def one(self, incoming: Incoming, short_name: str, import_id: int) -> Response:
        """What a file holds and what its rows become; later how far it is, and what came of it."""
        row = await self._projects.owned(short_name, incoming.who)
        found = await self._imports.get(incoming.who, row, import_id)
        return await self._one(incoming, row, found)

    async def _one(self, incoming: Incoming, row: ProjectPage, found: ImportPage, **said: Any) -> Response:
        context = await self._views.context(incoming, row) | {"title": _("Add tasks")}
        shown = {name: value for name, value in _outward(found).items() if name not in _HIDDEN}
        shown["gone"] = await self._imports.count_gone(incoming.who, row, found)
        form = self._forms.filled(incoming, **{name: found[name] for name in ("again", "n_answers", "on_error")})
        if said.get("flash") and said.get("status") == "error":
            form["errors"] = {said.pop("field", "uses"): [said["flash"]]}
        uses: Any = said.pop("uses", None) or found["uses"] or found["usual"]
        refused = (
            await self._imports.errors(incoming.who, row, found["id"], 0, SHOWN_REFUSED) if found["preview"] else []
        )
        more: dict[str, Any] = {"refused_rows": refused, "_encodings": list(ENCODINGS.items())}
        return Page(
            "project/import_one.html", **context, **{"import": shown, "uses": uses, "form": form}, **more, **said
        )

    async def begin(self, incoming: Incoming, short_name: str, import_id: int) -> Response:
        """Says what becomes of columns and of refused rows (``_choices``), and begins. ``check``: only counts anew."""
        row = await self._projects.owned(short_name, incoming.who)
        found = await self._imports.get(incoming.who, row, import_id)
        try:
            choices = _choices(incoming, found, begin=not incoming.flag("check", False))
            begun = await self._imports.go_on(incoming.who, row, import_id, choices)
        except InvalidValueError as error:
            uses = _uses(incoming, found)
            return await self._one(incoming, row, found, uses=uses, flash=error.args[0], status="error")
        except ConflictError as error:
            return Redirect(f"{_at(short_name)}/{import_id}", error.args[0], "error")
        return _begun(short_name, import_id, begun)

    async def forget(self, incoming: Incoming, short_name: str, import_id: int) -> Response:
        """Drops a file that has not begun."""
        row = await self._projects.owned(short_name, incoming.who)
        await self._imports.forget(incoming.who, row, import_id)
        return Redirect(_at(short_name), _("The file was removed. No tasks were added."))

    async def errors(self, incoming: Incoming, short_name: str, import_id: int) -> Response:
        """The refused rows as a table: line, reason, how the row begins."""
        row = await self._projects.owned(short_name, incoming.who)
        found = await self._imports.errors(incoming.who, row, import_id, 0, KEPT_ERRORS + 1000)
        rows = ((each["line"], harmless(each["reason"]), harmless(each["text"])) for each in found)
        return _table(f"refused_{import_id}.csv", ("line", "reason", "row"), rows)

    async def gone(self, incoming: Incoming, short_name: str, import_id: int) -> Response:
        """The tasks whose key is not in the file any more, as a table."""
        row = await self._projects.owned(short_name, incoming.who)
        found = await self._imports.gone(incoming.who, row, import_id)
        rows = ((each["task_id"], harmless(each["key"]), each["state"], each["answers"]) for each in found)
        return _table(f"gone_{import_id}.csv", ("task_id", "key", "state", "answers"), rows)

    async def retire_gone(self, incoming: Incoming, short_name: str, import_id: int) -> Response:
        """Takes these tasks out."""
        row = await self._projects.owned(short_name, incoming.who)
        at = f"{_at(short_name)}/{import_id}"
        try:
            effect = await self._imports.retire_gone(incoming.who, row, import_id)
        except InvalidValueError as error:
            return Redirect(at, error.args[0], "error")
        count = f"{effect.tasks:,}"
        if effect.queue_item is not None:
            words = ngettext(
                "%(count)s task is being retired.", "%(count)s tasks are being retired.", effect.tasks, count=count
            )
        else:
            words = ngettext("%(count)s task was retired.", "%(count)s tasks were retired.", effect.tasks, count=count)
        return Redirect(at, words, more={"tasks": effect.tasks, "queue_item": effect.queue_item})


def _table(name: str, head: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> BytesResponse:
    """A table to download."""
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(head)
    table.writerows(rows)
    named = f'attachment; filename="{name}"'
    headers = {**api_headers(), "Content-Disposition": named, "Cache-Control": "no-store"}
    return BytesResponse(text.getvalue().encode("utf-8-sig"), "text/csv; charset=utf-8", headers=headers)


def _choices(incoming: Incoming, found: ImportPage | None = None, *, begin: bool) -> Choices:
    """What a request says of a file: ``uses``, ``key``, ``kind``, ``encoding``, ``delimiter``, ``header``, ``again``,
    ``n_answers`` and ``on_error``. The form of the page sends all of them (``form=y``), an unticked box by its absence.
    """
    form = incoming.flag("form", False)
    dialect: dict[str, Any] = {}
    for name in ("encoding", "delimiter"):
        if incoming.field(name):
            dialect[name] = _TAB if name == "delimiter" and incoming.field(name) == "tab" else incoming.field(name)
    if form or "header" in incoming.form:
        dialect["header"] = incoming.flag("header", False)
    again = incoming.flag("again", False) if form or "again" in incoming.form else None
    return Choices(
        dialect=dialect or None,
        kind=incoming.field("kind") or None,
        uses=_uses(incoming, found),
        key=incoming.field("key") if "key" in incoming.form else None,
        again=again,
        n_answers=incoming.form.get("n_answers"),
        on_error=incoming.field("on_error") or ("" if form else None),
        begin=begin,
        sure=not form,
    )


def _pasted(incoming: Incoming) -> tuple[str, BinaryIO]:
    """The pasted rows as a file, which has no name."""
    rows = incoming.field("rows")
    if not rows.strip():
        raise InvalidValueError(_("Paste some rows."))
    return "", io.BytesIO(rows.encode())


def _wrong_field(incoming: Incoming) -> str:
    if incoming.field("csv_url").strip():
        return "csv_url"
    return "rows" if "rows" in incoming.form else "file"


def _shown_again(rows: Any) -> str | None:
    """Pasted rows for the field they were pasted into: nobody pastes twice because of one wrong letter."""
    return rows.encode(errors="replace").decode().replace("\0", "?") if isinstance(rows, str) else None


def _uses(incoming: Incoming, found: ImportPage | None) -> Any:
    """What a request says of each column; None where it says nothing."""
    if "uses" in incoming.form:
        return incoming.form["uses"]
    columns = [] if found is None else found["columns"]
    given = {name: incoming.field(f"use_{number}") for number, name in enumerate(columns)}
    return {name: use for name, use in given.items() if use in USES} or None


def _begun(short_name: str, import_id: int, begun: Begun) -> Redirect:
    at, more = f"{_at(short_name)}/{import_id}", {"import": import_id, "state": begun.state}
    if begun.waits:
        return Redirect(at, begun.waits, "warning", more)
    words = {
        "reading": _("The file is being read. You can close this page."),
        "pending": _("The file has been read."),
    }.get(begun.state, _("The tasks are being added. You can close this page."))
    return Redirect(at, words, more=more | {"queue_item": begun.item})


def _at(short_name: str) -> str:
    return f"/project/{quote(short_name)}/tasks/import"


def _outward(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: outward(value) for name, value in row.items()}
