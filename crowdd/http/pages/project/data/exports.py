"""Exports: tasks, answers and results as files."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

from crowdd.domain.projects.projects import Projects
from crowdd.domain.tasks.changes import task_ids
from crowdd.domain.transfer.exports import FORMATS, Exports
from crowdd.errors import NotFoundError
from crowdd.http import queries
from crowdd.http.pages.project.data import task_filters
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
from crowdd.http.responses import Download, Page, Response
from crowdd.http.routing import Route, get
from crowdd.requester import network
from crowdd.values import Values


class ExportPublic(ProjectPublic):
    exports: list[Values]
    formats: list[str]


class ExportPrivate(ProjectPrivate):
    """``chosen`` are the tasks whose rows leave, for addresses: by their ids or by filters; "" for all."""

    task_ids: str
    chosen: str


class ExportPages:
    """``/project/<short_name>/tasks/export``."""

    def __init__(self, projects: Projects, exports: Exports, views: ProjectViews) -> None:
        self._projects, self._exports, self._views = projects, exports, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/tasks/export", locked_out(self.export))

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
            public = ExportPublic(**context.public, exports=sizes, formats=list(FORMATS))
            by = {"scope": "matching", "matching": text} if text else {"task_ids": ",".join(named)} if named else {}
            private = ExportPrivate(**context.private, task_ids="" if text else ",".join(named), chosen=urlencode(by))
            return Page("project/export.html", public, private)
        if type_ is None or format_ is None:
            raise NotFoundError("404 Not Found", hint="Both type and format are required.")
        raw = queries.flag(incoming.query.get("raw", ""), "raw")
        word = incoming.query.get("volunteer", "")
        number = incoming.query.get("analysis", "")
        analysis = queries.number(number, "analysis", 0) if number else None
        file = self._exports.file(
            incoming.who, row, type_, format_, raw=raw, named=chosen, volunteer=word, analysis=analysis
        )
        parts = self._exports.download(incoming.who, file, network(incoming.address))
        return Download(file.name, file.content_type, parts)
