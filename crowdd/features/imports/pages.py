"""The pages of imports: upload a file, choose its columns, watch the tasks being added, and repeat an import.

An address is imported again each hour, day or week. Owners can pause it, read it now, or delete it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, TypedDict
from urllib.parse import quote

from crowdd.core.text.words import escape_formula
from crowdd.features.imports import column_pages
from crowdd.features.imports.column_pages import Columns
from crowdd.features.imports.files import ENCODINGS
from crowdd.features.imports.import_roles import Choices
from crowdd.features.imports.import_rows import USES
from crowdd.features.imports.imports import Begun, ImportPage, Imports
from crowdd.features.imports.progress import MOVING, ImportState
from crowdd.features.imports.rows import RefusedRow
from crowdd.features.imports.sources import Sources, is_address
from crowdd.features.imports.statements import KEPT_ERRORS
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.tasks.sample_tasks import SampleTasks
from crowdd.http import queries
from crowdd.http.html.forms import Form, Forms, WithForm
from crowdd.http.html.frames import api_headers
from crowdd.http.request import Incoming
from crowdd.http.responses import NO_MESSAGE, BytesResponse, Message, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import (
    ConflictError,
    InvalidValueError,
    RefusedTargetError,
    TooLargeError,
    TooManyRequestsError,
    UnreachableError,
)
from crowdd.kernel.languages import _, ngettext
from crowdd.kernel.values import Values
from crowdd.kinds.kind import outward

_AT = "/project/<short_name>/tasks/import"
# PyBossa's names, and the field of an address that a front end for PyBossa sends: a file, a table, a spreadsheet, a
# manifest. All of them accept whatever file can be imported.
IMPORTERS = {"localCSV": "", "csv": "csv_url", "gdocs": "googledocs_url", "iiif": "manifest_uri"}
_ADDRESSES = (*filter(None, IMPORTERS.values()), "url")
_PASTE = "paste"
_HIDDEN = frozenset({"file", "project_id", "user_id", "usual", "checked", "auto"})
_TAB = "\t"
_BOXES = ("again", "keep_columns")
SHOWN_REFUSED = 5  # rows
_REFUSALS = (InvalidValueError, UnreachableError, TooLargeError, TooManyRequestsError)


class FirstPublic(ProjectPublic, WithForm, Message):
    """The keys beside the common ones are those of PyBossa's front ends; ``imports`` are the newest.

    ``sources`` are addresses that are read again.
    """

    available_importers: list[str]
    task_tmpls: list[str]
    target: str
    loading_text: str
    imports: list[Values]
    sources: list[Values]


class FirstPrivate(ProjectPrivate):
    max_bytes: int
    n_answers: int
    n_samples: int


_Import = TypedDict("_Import", {"import": Values})


class ImportPublic(ProjectPublic, _Import, WithForm, Message):
    """``uses`` says what becomes of each column; ``refused_rows`` are the first of them."""

    uses: dict[str, str]
    refused_rows: list[RefusedRow]


class ImportPrivate(ProjectPrivate):
    """``encodings`` are pairs of a code and a name; ``progress`` is how far an import that moves is.

    ``columns`` says what those of the file are for. ``repeats``: the address that it came from can be read again.
    ``n_samples``: sample tasks of a template that are still there when the import is done.
    """

    encodings: list[tuple[str, str]]
    columns: Columns
    repeats: bool
    progress: ImportState | None
    n_samples: int


class ImportPages:
    """``/project/<short_name>/tasks/import`` and each import below it."""

    def __init__(
        self,
        projects: Projects,
        imports: Imports,
        sources: Sources,
        samples: SampleTasks,
        forms: Forms,
        views: ProjectViews,
    ) -> None:
        self._projects, self._imports, self._sources, self._samples = projects, imports, sources, samples
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
        """The form for a file. ``type`` chooses one of the importers (interface: page-import)."""
        row = await self._projects.owned(short_name, incoming.who)
        type_ = incoming.query.get("type") or next(iter(IMPORTERS))
        _require_importer(type_)
        more = {IMPORTERS[type_]: None} if IMPORTERS[type_] else {}
        form = self._forms.filled(incoming, **{"form_name": type_, "csv_url": None, "rows": None, **more})
        return await self._first(incoming, row, form)

    async def _first(self, incoming: Incoming, row: ProjectPage, form: Form, message: Message = NO_MESSAGE) -> Response:
        newest = await self._imports.newest(incoming.who, row)
        context = await self._views.context(incoming, row, _("Add tasks"))
        public = FirstPublic(
            **context.public,
            available_importers=list(IMPORTERS),
            task_tmpls=[],
            target="project.import_task",
            loading_text=_("Importing tasks, this may take a while, wait..."),
            form=form,
            imports=[_outward(each) for each in newest],
            sources=[_outward(each) for each in await self._sources.of_project(incoming.who, row)],
            **message,
        )
        proposed = await self._imports.proposed_redundancy(row)
        samples = await self._samples.count(row["id"])
        private = FirstPrivate(
            **context.private, max_bytes=self._imports.max_bytes, n_answers=proposed, n_samples=samples
        )
        return Page("project/import.html", public, private)

    async def bring(self, incoming: Incoming, short_name: str) -> Response:
        """Imports a file (``file``), pasted ``rows`` or a download (``csv_url``). ``map``: wait for a review first.

        ``form_name`` may name one of the importers, with the field that PyBossa has for its address.
        """
        row = await self._projects.owned(short_name, incoming.who)
        if incoming.field("form_name") not in ("", _PASTE):
            _require_importer(incoming.field("form_name"))
        try:
            choices = _choices(incoming, row, begin=not incoming.flag("map", False))
            import_id = await self._brought(incoming, row, choices)
            if not choices.begin:
                return Redirect(f"{_at(short_name)}/{import_id}", more={"import": import_id})
            begun = await self._imports.go_on(incoming.who, row, import_id, Choices(on_error=choices.on_error))
        except _REFUSALS as error:
            return await self._refused(incoming, row, error)
        return _begun(short_name, import_id, begun)

    async def _brought(self, incoming: Incoming, row: ProjectPage, choices: Choices) -> int:
        address = _address(incoming)
        upload = incoming.file("file", "csv_filename")
        if upload is not None:
            return await self._imports.bring(incoming.who, row, *upload, choices)
        if address:
            return await self._imports.fetch(incoming.who, row, address, choices)
        if "rows" in incoming.form:
            return await self._imports.bring(incoming.who, row, *_pasted(incoming), choices)
        raise InvalidValueError(_("Choose a file, or give its address."))

    async def _refused(self, incoming: Incoming, row: ProjectPage, error: Exception) -> Response:
        words = error.args[0] if error.args else _("The file was refused.")
        form = self._forms.refused(incoming, {_wrong_field(incoming): [words]}, "form_name", "csv_url")
        form["rows"] = _shown_again(incoming.form.get("rows"))
        return await self._first(incoming, row, form, Message(flash=words, status="error"))

    async def one(self, incoming: Incoming, short_name: str, import_id: int) -> Response:
        """One import: the contents of its file and the uses of its columns; later its progress and its outcome."""
        row = await self._projects.owned(short_name, incoming.who)
        import_row = await self._imports.get(incoming.who, row, import_id)
        return await self._one(incoming, row, import_row)

    async def _one(
        self,
        incoming: Incoming,
        row: ProjectPage,
        import_row: ImportPage,
        uses: dict[str, str] | None = None,
        mistake: str = "",
    ) -> Response:
        """The page of one import. ``uses`` and ``mistake`` are those of a refused form."""
        context = await self._views.context(incoming, row, _("Add tasks"))
        shown = {name: value for name, value in _outward(import_row).items() if name not in _HIDDEN}
        shown["gone"] = await self._imports.count_gone(incoming.who, row, import_row)
        form = self._forms.filled(
            incoming, **{name: import_row[name] for name in ("again", "keep_columns", "n_answers", "on_error")}
        )
        if mistake:
            form["errors"] = {"uses": [mistake]}
        refused = (
            await self._imports.errors(incoming.who, row, import_row["id"], 0, SHOWN_REFUSED)
            if import_row["preview"]
            else []
        )
        public: ImportPublic = {
            **context.public,
            "import": shown,
            "uses": uses or import_row["uses"] or import_row["usual"],
            "form": form,
            "refused_rows": refused,
            **(Message(flash=mistake, status="error") if mistake else NO_MESSAGE),
        }
        moves = import_row["state"] in MOVING and not incoming.wants_json
        progress = await self._imports.progress(row, import_row["id"]) if moves else None
        private = ImportPrivate(
            **context.private,
            encodings=list(ENCODINGS.items()),
            progress=progress,
            columns=column_pages.describe_columns(row["info"], import_row),
            repeats=is_address(import_row["name"]) and import_row["kind"] == "table",
            n_samples=await self._samples.count(row["id"]) if import_row["state"] == "done" else 0,
        )
        return Page("project/import_one.html", public, private)

    async def begin(self, incoming: Incoming, short_name: str, import_id: int) -> Response:
        """Starts an import with the choices of the form (``_choices``). ``check``: only counts rows again."""
        row = await self._projects.owned(short_name, incoming.who)
        import_row = await self._imports.get(incoming.who, row, import_id)
        try:
            choices = _choices(incoming, row, import_row, begin=not incoming.flag("check", False))
            begun = await self._imports.go_on(incoming.who, row, import_id, choices)
        except InvalidValueError as error:
            return await self._one(incoming, row, import_row, _uses(incoming, import_row), error.args[0])
        except ConflictError as error:
            return Redirect(f"{_at(short_name)}/{import_id}", error.args[0], "error")
        return _begun(short_name, import_id, begun)

    async def forget(self, incoming: Incoming, short_name: str, import_id: int) -> Response:
        """Removes a file whose import has not started."""
        row = await self._projects.owned(short_name, incoming.who)
        await self._imports.forget(incoming.who, row, import_id)
        return Redirect(_at(short_name), _("The file was removed. No tasks were added."))

    async def errors(self, incoming: Incoming, short_name: str, import_id: int) -> Response:
        """The refused rows as a table: line, reason, beginning of the row."""
        row = await self._projects.owned(short_name, incoming.who)
        refused_rows = await self._imports.errors(incoming.who, row, import_id, 0, KEPT_ERRORS + 1000)
        rows = ((each["line"], escape_formula(each["reason"]), escape_formula(each["text"])) for each in refused_rows)
        return _table(f"refused_{import_id}.csv", ("line", "reason", "row"), rows)

    async def gone(self, incoming: Incoming, short_name: str, import_id: int) -> Response:
        """The tasks whose key is no longer in the file, as a table."""
        row = await self._projects.owned(short_name, incoming.who)
        gone_tasks = await self._imports.gone(incoming.who, row, import_id)
        rows = ((each["task_id"], escape_formula(each["key"]), each["state"], each["answers"]) for each in gone_tasks)
        return _table(f"gone_{import_id}.csv", ("task_id", "key", "state", "answers"), rows)

    async def retire_gone(self, incoming: Incoming, short_name: str, import_id: int) -> Response:
        """Retires these tasks."""
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


def _table(name: str, head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> BytesResponse:
    """A table to download."""
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(head)
    table.writerows(rows)
    named = f'attachment; filename="{name}"'
    headers = {**api_headers(), "Content-Disposition": named, "Cache-Control": "no-store"}
    return BytesResponse(text.getvalue().encode("utf-8-sig"), "text/csv; charset=utf-8", headers=headers)


def _choices(incoming: Incoming, row: ProjectPage, import_row: ImportPage | None = None, *, begin: bool) -> Choices:
    """The choices of a request for a file: ``uses``, ``roles``, ``names``, ``key``, ``keep_columns``, ``kind``,
    ``encoding``, ``delimiter``, ``header``, ``line``, ``sheet``, ``commas``, ``again``, ``n_answers`` and ``on_error``.
    The form of the page sends all (``form=y``) except unticked boxes.
    """
    form = incoming.flag("form", False)
    dialect: Values = {}
    for name in ("encoding", "delimiter"):
        if incoming.field(name):
            dialect[name] = _TAB if name == "delimiter" and incoming.field(name) == "tab" else incoming.field(name)
    if "sheet" in incoming.form:
        dialect["sheet"] = incoming.field("sheet")
    if "line" in incoming.form:
        line, before = incoming.field("line").strip(), (import_row["dialect"] or {}) if import_row else {}
        # The line of one sheet is none of another.
        same = "sheet" not in dialect or dialect["sheet"] == before.get("sheet", "")
        dialect["line"] = queries.parse_number(line, "line", 0) if line and same else 0
    if form or "header" in incoming.form:
        dialect["header"] = incoming.flag("header", False)
    if form or "commas" in incoming.form:
        columns = ((import_row["dialect"] or {}) if import_row else {}).get("commas")
        ticked_commas = incoming.flag("commas", False)
        dialect["commas"] = dict.fromkeys(columns if isinstance(columns, dict) else (), ticked_commas)
    names = column_pages.chosen_names(incoming, row["info"], import_row)
    if names is not None:
        dialect["names"] = names
    ticked = {name: incoming.flag(name, False) for name in _BOXES if form or name in incoming.form}
    return Choices(
        dialect=dialect or None,
        kind=incoming.field("kind") or None,
        uses=_uses(incoming, import_row),
        roles=column_pages.chosen_roles(incoming, import_row),
        key=incoming.field("key") if "key" in incoming.form else None,
        **ticked,
        n_answers=incoming.form.get("n_answers"),
        on_error=incoming.field("on_error") or ("" if form else None),
        begin=begin,
        sure=not form,
    )


def _require_importer(name: str) -> None:
    """Raises InvalidValueError for a name that is none of the importers."""
    if name not in IMPORTERS:
        names = ", ".join(IMPORTERS)
        raise InvalidValueError(_("Unknown importer %(name)s. Available: %(names)s.", name=name[:100], names=names))


def _address(incoming: Incoming) -> str:
    """The address of a file in a request, in the field of any importer."""
    return next(filter(None, (incoming.field(name).strip() for name in _ADDRESSES)), "")


def _pasted(incoming: Incoming) -> tuple[str, BinaryIO]:
    """The pasted rows as a file without a name."""
    rows = incoming.field("rows")
    if not rows.strip():
        raise InvalidValueError(_("Paste some rows."))
    return "", io.BytesIO(rows.encode())


def _wrong_field(incoming: Incoming) -> str:
    if _address(incoming):
        return "csv_url"
    return "rows" if "rows" in incoming.form else "file"


def _shown_again(rows: object) -> str | None:
    """Pasted rows for the form, so that people need not paste them again after a mistake."""
    return rows.encode(errors="replace").decode().replace("\0", "?") if isinstance(rows, str) else None


def _uses(incoming: Incoming, import_row: ImportPage | None) -> Any:
    """The use of each column in a request; None if it names none."""
    if "uses" in incoming.form:
        return incoming.form["uses"]
    columns = [] if import_row is None else import_row["columns"]
    uses = {name: incoming.field(f"use_{number}") for number, name in enumerate(columns)}
    return {name: use for name, use in uses.items() if use in USES} or None


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


def _outward(row: Mapping[str, object]) -> Values:
    return {name: outward(value) for name, value in row.items()}


_DONE = {
    "pause": _("The scheduled import is paused."),
    "resume": _("The address will be read again."),
    "now": _("The address is being read."),
    "delete": _("The address was removed. Its tasks stay."),
    "period": _("The interval was changed."),
}


class SourcePages:
    """What the forms about sources on the page of imports do."""

    def __init__(self, projects: Projects, sources: Sources) -> None:
        self._projects, self._sources = projects, sources

    def routes(self) -> Iterator[Route]:
        yield post(f"{_AT}/<int:import_id>/again", locked_out(self.keep))
        yield post(f"{_AT}/sources/<int:source_id>", locked_out(self.change))

    async def keep(self, incoming: Incoming, short_name: str, import_id: int) -> Response:
        """Reads the address of an import again every ``period`` seconds: 3600, 86400 or 604800."""
        row = await self._projects.owned(short_name, incoming.who)
        at = f"/project/{quote(short_name)}/tasks/import"
        try:
            source_id = await self._sources.keep(incoming.who, row, import_id, _period(incoming))
        except (InvalidValueError, RefusedTargetError) as error:
            return Redirect(f"{at}/{import_id}", error.args[0], "error")
        return Redirect(at, _("The address will be read again."), more={"source": source_id})

    async def change(self, incoming: Incoming, short_name: str, source_id: int) -> Response:
        """Does what ``act`` says: pause, resume, now, delete, or period with ``period``."""
        row = await self._projects.owned(short_name, incoming.who)
        act, at = incoming.field("act"), f"/project/{quote(short_name)}/tasks/import"
        try:
            period = _period(incoming) if act == "period" else 0
            await self._sources.change(incoming.who, row, source_id, act, period)
        except InvalidValueError as error:
            return Redirect(at, error.args[0], "error")
        return Redirect(at, _DONE[act])


def _period(incoming: Incoming) -> int:
    return queries.parse_number(incoming.field("period"), "period", 0)
