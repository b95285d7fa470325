"""Exports: tasks, answers and results as files, and programs that read them."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import attrs

from crowdd.domain.projects.projects import Projects
from crowdd.domain.tasks.changes import task_ids
from crowdd.domain.transfer.exported.export_file import FORMATS, KINDS
from crowdd.domain.transfer.exports import Exports
from crowdd.errors import NotFoundError
from crowdd.http.api.exports import asked_file, download
from crowdd.http.pages.project.data import task_filters
from crowdd.http.pages.project.data.snippets import snippets
from crowdd.http.pages.project.views import (
    ProjectPrivate,
    ProjectPublic,
    ProjectViews,
    all_matching,
    locked_out,
    none_ticked,
    ticked,
)
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response
from crowdd.http.routing import Route, get
from crowdd.languages import _
from crowdd.values import Values


class ExportPublic(ProjectPublic):
    """``exports`` are the usual files with their sizes, ``types`` all that the requester can have."""

    exports: list[Values]
    formats: list[str]
    types: list[str]


class ExportPrivate(ProjectPrivate):
    """``chosen`` are the tasks whose rows leave, for addresses: by their ids or by filters; "" for all."""

    task_ids: str
    chosen: str


class UsagePublic(ProjectPublic):
    """``snippets`` have name, title, language and text. ``needs_key``: visitors cannot read the data."""

    snippets: list[Values]
    needs_key: bool


class UsagePrivate(ProjectPrivate):
    """``locked``: the reader's programs have to send the project's password."""

    locked: bool


class ExportPages:
    """``/project/<short_name>/tasks/export``, and ``/project/<short_name>/data`` for everybody who may export."""

    def __init__(self, projects: Projects, exports: Exports, views: ProjectViews) -> None:
        self._projects, self._exports, self._views = projects, exports, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/tasks/export", locked_out(self.export))
        yield get("/project/<short_name>/data", locked_out(self.usage))

    async def export(self, incoming: Incoming, short_name: str) -> Response:
        """A file of a ``type`` in a ``format``; without both, the page to choose them.

        ``raw=1``: texts in tables are not escaped. ``task_ids``: only of these tasks. ``volunteer``: only answers with
        this code. ``analysis``: whose labels stand beside results. ``scope=matching`` with ``matching``: only of the
        tasks of these filters.
        """
        row = await self._projects.page(short_name, incoming.who)
        self._exports.require(incoming.who, row)
        if (back := none_ticked(incoming, short_name)) is not None:
            return back
        named, text = ticked(incoming), all_matching(incoming)
        if text:
            chosen = await self._exports.matching(row, task_filters.task_filter(text))
        else:
            chosen = task_ids({"task_ids": named or None})
        type_, format_ = incoming.query.get("type"), incoming.query.get("format")
        if type_ is None and format_ is None:
            context = await self._views.context(incoming, row)
            sizes = await self._exports.sizes(row, chosen)
            types = [name for name, kind in KINDS.items() if row["roles"] & kind.rights.see]
            public = ExportPublic(**context.public, exports=sizes, formats=list(FORMATS), types=types)
            by = {"scope": "matching", "matching": text} if text else {"task_ids": ",".join(named)} if named else {}
            private = ExportPrivate(**context.private, task_ids="" if text else ",".join(named), chosen=urlencode(by))
            return Page("project/export.html", public, private)
        if type_ is None or format_ is None:
            raise NotFoundError("404 Not Found", hint="Both type and format are required.")
        return download(
            incoming, self._exports, asked_file(incoming, self._exports, row, type_, format_, chosen, bom=True)
        )

    async def usage(self, incoming: Incoming, short_name: str) -> Response:
        """Programs that read the answers, with the addresses of this project."""
        row = await self._projects.page(short_name, incoming.who)
        self._exports.require(incoming.who, row)
        context = await self._views.context(incoming, row, _("Use this data"))
        programs = snippets(self._views.base_url.rstrip("/"), f"{self._views.address(row)}tasks/export", row["id"])
        needs_key, locked = not self._exports.is_open(row), self._exports.needs_password(row)
        public = UsagePublic(**context.public, snippets=[attrs.asdict(each) for each in programs], needs_key=needs_key)
        return Page("project/data.html", public, UsagePrivate(**context.private, locked=locked))
