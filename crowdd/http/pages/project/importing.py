"""Data in: an owner brings a file, says what its columns are, and looks on while tasks come of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any, BinaryIO
from urllib.parse import quote

from crowdd.domain.cells import harmless
from crowdd.domain.domain import Domain
from crowdd.domain.import_rows import USES
from crowdd.errors import (
    ConflictError,
    InvalidValueError,
    TooLargeError,
    TooManyRequestsError,
    UnreachableError,
)
from crowdd.http.answers import Answer, Page, Raw, Redirect
from crowdd.http.forms import Forms
from crowdd.http.incoming import Incoming
from crowdd.http.pages.project.views import ProjectViews, locked_out
from crowdd.http.presenter import api_headers
from crowdd.http.routing import Route, get, post
from crowdd.kinds.kind import outward
from crowdd.languages import _
from crowdd.storage.database import Row
from crowdd.storage.imports import KEPT_ERRORS

_AT = "/project/<short_name>/tasks/import"
IMPORTERS = ("localCSV", "csv")  # the incumbent's names: a file, an address
_REFUSALS = (InvalidValueError, UnreachableError, TooLargeError, TooManyRequestsError)


class ImportPages:
    """``/project/<short_name>/tasks/import`` and each import below it."""

    def __init__(self, domain: Domain, forms: Forms, views: ProjectViews) -> None:
        self._projects, self._imports = domain.projects, domain.imports
        self._forms, self._views = forms, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.first))
        yield post(_AT, locked_out(self.bring))
        yield get(f"{_AT}/<int:import_id>", locked_out(self.one))
        yield post(f"{_AT}/<int:import_id>", locked_out(self.begin))
        yield post(f"{_AT}/<int:import_id>/forget", locked_out(self.forget))
        yield get(f"{_AT}/<int:import_id>/errors", locked_out(self.errors))

    async def first(self, incoming: Incoming, short_name: str) -> Answer:
        """Where a file is brought to; ``type`` chooses one of the importers (incumbent)."""
        row = await self._projects.owned(short_name, incoming.who)
        type_ = incoming.query.get("type") or IMPORTERS[0]
        if type_ not in IMPORTERS:
            raise InvalidValueError(_("There is no such importer."))
        form = self._forms.filled(incoming, form_name=type_, csv_url=None, rows=None)
        return await self._first(incoming, row, form)

    async def _first(self, incoming: Incoming, row: Row, form: dict[str, Any], **said: Any) -> Answer:
        newest = await self._imports.newest(incoming.who, row)
        context = await self._views.context(incoming, row) | {"title": _("Bring your tasks")}
        return Page(
            "project/import.html",
            **context,
            available_importers=list(IMPORTERS),
            task_tmpls=[],
            target="project.import_task",
            loading_text=_("Importing tasks, this may take a while, wait..."),
            form=form,
            imports=[_outward(each) for each in newest],
            _most_bytes=self._imports.most_bytes,
            **said,
        )

    async def bring(self, incoming: Incoming, short_name: str) -> Answer:
        """Takes a file (``file``), pasted ``rows``, or fetches one (``csv_url``). ``map``: it waits to be looked at."""
        row = await self._projects.owned(short_name, incoming.who)
        try:
            import_id = await self._brought(incoming, row)
            if incoming.flag("map", False):
                return Redirect(f"{_at(short_name)}/{import_id}", more={"import": import_id})
            item = await self._imports.begin(incoming.who, row, import_id)
        except _REFUSALS as error:
            return await self._refused(incoming, row, error)
        return _begun(short_name, import_id, item)

    async def _brought(self, incoming: Incoming, row: Row) -> int:
        address = incoming.field("csv_url").strip() or incoming.field("url").strip()
        found = incoming.file("file", "csv_filename")
        if found is not None:
            return await self._imports.bring(incoming.who, row, *found)
        if address:
            return await self._imports.fetch(incoming.who, row, address)
        if "rows" in incoming.form:
            return await self._imports.bring(incoming.who, row, *_pasted(incoming))
        raise InvalidValueError(_("Choose a file, or give its address."))

    async def _refused(self, incoming: Incoming, row: Row, error: Exception) -> Answer:
        words = error.args[0] if error.args else _("It was refused.")
        form = self._forms.refused(incoming, {_wrong_field(incoming): [words]}, "form_name", "csv_url")
        form["rows"] = _shown_again(incoming.form.get("rows"))
        return await self._first(incoming, row, form, flash=words, status="error")

    async def one(self, incoming: Incoming, short_name: str, import_id: int) -> Answer:
        """What a file holds and what its columns become; later how far it is, and what came of it."""
        row = await self._projects.owned(short_name, incoming.who)
        found = await self._imports.get(incoming.who, row, import_id)
        return await self._one(incoming, row, found, self._forms.filled(incoming, again=found["again"]))

    async def _one(self, incoming: Incoming, row: Row, found: Row, form: dict[str, Any], **said: Any) -> Answer:
        context = await self._views.context(incoming, row) | {"title": _("Bring your tasks")}
        shown = {name: value for name, value in _outward(found).items() if name not in ("file", "project_id")}
        uses = said.pop("uses", None) or found["uses"] or found["usual"]
        return Page("project/import_one.html", **context, **{"import": shown, "uses": uses, "form": form}, **said)

    async def begin(self, incoming: Incoming, short_name: str, import_id: int) -> Answer:
        """Says what each column becomes (``uses``: an object, or fields ``use_0``, ``use_1`` …), and begins."""
        row = await self._projects.owned(short_name, incoming.who)
        found = await self._imports.get(incoming.who, row, import_id)
        uses = _uses(incoming, found)
        try:
            item = await self._imports.begin(incoming.who, row, import_id, uses, incoming.flag("again", False))
        except InvalidValueError as error:
            form = self._forms.refused(incoming, {"uses": [error.args[0]]}, "again")
            return await self._one(incoming, row, found, form, uses=uses, flash=error.args[0], status="error")
        except ConflictError as error:
            return Redirect(f"{_at(short_name)}/{import_id}", error.args[0], "error")
        return _begun(short_name, import_id, item)

    async def forget(self, incoming: Incoming, short_name: str, import_id: int) -> Answer:
        """Drops a file that has not begun."""
        row = await self._projects.owned(short_name, incoming.who)
        await self._imports.forget(incoming.who, row, import_id)
        return Redirect(_at(short_name), _("The file is gone. No task came of it."))

    async def errors(self, incoming: Incoming, short_name: str, import_id: int) -> Answer:
        """The refused rows as a table: line, reason, how the row begins."""
        row = await self._projects.owned(short_name, incoming.who)
        found = await self._imports.errors(incoming.who, row, import_id, 0, KEPT_ERRORS + 1000)
        text = io.StringIO(newline="")
        table = csv.writer(text)
        table.writerow(("line", "reason", "row"))
        table.writerows((each["line"], harmless(each["reason"]), harmless(each["text"])) for each in found)
        named = f'attachment; filename="refused_{import_id}.csv"'
        headers = {**api_headers(), "Content-Disposition": named, "Cache-Control": "no-store"}
        return Raw(text.getvalue().encode("utf-8-sig"), "text/csv; charset=utf-8", headers=headers)


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


def _uses(incoming: Incoming, found: Row) -> Any:
    """What a form says of each column; None where it says nothing."""
    if "uses" in incoming.form:
        return incoming.form["uses"]
    given = {name: incoming.field(f"use_{number}") for number, name in enumerate(found["columns"])}
    chosen = {name: use for name, use in given.items() if use in USES}
    return {**found["usual"], **chosen} if chosen else None


def _begun(short_name: str, import_id: int, item: int) -> Redirect:
    words = _("The tasks are coming in. You can close this page.")
    return Redirect(f"{_at(short_name)}/{import_id}", words, more={"import": import_id, "queue_item": item})


def _at(short_name: str) -> str:
    return f"/project/{quote(short_name)}/tasks/import"


def _outward(row: Row) -> dict[str, Any]:
    return {name: outward(value) for name, value in row.items()}
