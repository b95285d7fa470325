"""The pages of exports: tasks, answers and results as files, and example programs that read them.

The programs have the project's addresses but no key: they read it from KEY. Their texts are the same in each language.
Nothing in them comes from an owner but the address, which is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypedDict
from urllib.parse import urlencode

import attrs

from crowdd.features.exports.annotations.annotation_format import Asked
from crowdd.features.exports.annotations.registry import annotation_formats
from crowdd.features.exports.api import asked_file, download
from crowdd.features.exports.exports import Exports
from crowdd.features.exports.formats import FORMATS, KINDS, SEPARATORS
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.views import (
    ProjectPrivate,
    ProjectPublic,
    ProjectViews,
    all_matching,
    locked_out,
    none_ticked,
    ticked_tasks,
)
from crowdd.features.tasks import task_filters
from crowdd.features.tasks.change_bodies import TasksBody
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response
from crowdd.http.routing import Route, get
from crowdd.kernel.errors import NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.answers.words import titles_of, words_of
from crowdd.kinds.questions import QUESTIONS

_PANDAS = """\
# pip install pandas
import os

import pandas

address = "{csv}"
answers = pandas.read_csv(address, storage_options={{"Authorization": os.environ.get("KEY", "")}})
print(answers.groupby("task_id").size())
"""
_POLARS = """\
# pip install polars
import io
import os
import urllib.request

import polars

address = "{csv}"
request = urllib.request.Request(address, headers={{"Authorization": os.environ.get("KEY", "")}})
with urllib.request.urlopen(request) as response:
    answers = polars.read_csv(io.BytesIO(response.read()), infer_schema_length=None)
print(answers.group_by("task_id").len().sort("task_id"))
"""
_DUCKDB = """\
# pip install duckdb
import os
import shutil
import urllib.request

import duckdb

address = "{csv}"
request = urllib.request.Request(address, headers={{"Authorization": os.environ.get("KEY", "")}})
with urllib.request.urlopen(request) as response, open("answers.csv", "wb") as file:
    shutil.copyfileobj(response, file)
answers = duckdb.read_csv("answers.csv", header=True, delimiter=",", sample_size=-1)
print(duckdb.sql("SELECT task_id, count(*) AS answers FROM answers GROUP BY task_id ORDER BY task_id"))
"""
_CLIENT = """\
# pip install 'crowdd-client[pandas]'
from crowdd_client import Client

with Client("{site}") as client:  # reads KEY by itself
    project = client.project({id})
    answers = project.export("answers").to_pandas()
    print(answers.groupby("task_id").size())
    for answer in project.answers():  # row by row, also with filters: answers(task_id=12)
        print(answer["task_id"], answer["volunteer"], answer["info"])
"""
_R = """\
address <- "{csv}"
download.file(address, "answers.csv", mode = "wb", headers = c(Authorization = Sys.getenv("KEY")))
answers <- read.csv("answers.csv", fileEncoding = "UTF-8-BOM", check.names = FALSE)
print(table(answers$task_id))
"""
_CURL = """\
for type in task task_run result; do
  curl -fsS -H "Authorization: $KEY" -o $type.csv "{export}?type=$type&format=csv&raw=1"
done
curl -fsS -H "Authorization: $KEY" "{site}/api/taskrun?project_id={id}&all=1&limit=100&last_id=0"
"""
_PROGRAMS = (
    ("pandas", "pandas", "python", _PANDAS),
    ("polars", "polars", "python", _POLARS),
    ("duckdb", "DuckDB", "python", _DUCKDB),
    ("client", "crowdd-client", "python", _CLIENT),
    ("r", "R", "r", _R),
    ("curl", "curl", "sh", _CURL),
)


@attrs.frozen
class Snippet:
    """A program: its name in addresses, that of its library for people, its language, and its text."""

    name: str
    title: str
    language: str
    text: str


def snippets(site: str, export: str, project_id: int) -> list[Snippet]:
    """The programs for a project. ``site`` is the address of the server, ``export`` that of the project's exports."""
    # Cells are left as they are (raw): an apostrophe before a formula is for spreadsheets.
    places = {"site": site, "export": export, "id": project_id, "csv": f"{export}?type=task_run&format=csv&raw=1"}
    return [Snippet(name, title, language, text.format(**places)) for name, title, language, text in _PROGRAMS]


class ExportPublic(ProjectPublic):
    """``exports`` are the usual files with their sizes, ``types`` all that the requester can have."""

    exports: list[Values]
    formats: list[str]
    types: list[str]


class OtherFormat(TypedDict):
    """A format of other programs: its name and title, what it cannot hold, and the questions that are in it."""

    name: str
    title: str
    cannot: list[str]
    questions: list[str]


def other_formats(info: Values, language: str) -> list[OtherFormat]:
    """Those that can hold the answers to a question of the project, with the texts of these questions."""
    asked, titles = Asked.of(info.get(QUESTIONS)), titles_of(words_of(info, language))
    shown = []
    for each in annotation_formats().values():
        if questions := [titles.get(one.name, one.name) for one in asked if one.type in each.types]:
            cannot = list(each.cannot)
            shown.append(OtherFormat(name=each.name, title=each.title, cannot=cannot, questions=questions))
    return shown


class ExportPrivate(ProjectPrivate):
    """``chosen`` are the tasks whose rows leave, for addresses: by their ids or by filters; "" for all.

    ``kept`` are the same as pairs. ``tables``: whether tables have columns of tasks and words of questions and are
    wide, their separator ("" for that of the reader's language), and whether the reader chose that. ``others``: the
    formats of other programs that can hold answers.
    """

    task_ids: str
    chosen: str
    kept: list[tuple[str, str]]
    tables: Values
    others: list[OtherFormat]


class UsagePublic(ProjectPublic):
    """``snippets`` have name, title, language and text. ``needs_key``: visitors cannot read the data."""

    snippets: list[Values]
    needs_key: bool


class UsagePrivate(ProjectPrivate):
    """``locked``: the reader's programs have to send the project's password."""

    locked: bool


def _tables(query: Mapping[str, str]) -> Values:
    """How tables are made: with columns of tasks and words of questions, unless the form says otherwise."""
    separator = query.get("separator", "")
    return {
        "task": query.get("task") == "columns" or not separator,
        "words": query.get("headings") == "words" or not separator,
        "wide": query.get("info") == "wide",
        "separator": separator if separator in SEPARATORS else "",
        "changed": bool(separator),
    }


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
        tasks of these filters. ``task``, ``info``, ``headings`` and ``separator`` choose how its tables are made.
        """
        row = await self._projects.page(short_name, incoming.who)
        self._exports.require(incoming.who, row)
        if (back := none_ticked(incoming, short_name)) is not None:
            return back
        named, text = ticked_tasks(incoming), all_matching(incoming)
        if text:
            chosen = await self._exports.matching(row, task_filters.parse_task_filter(text))
        else:
            chosen = TasksBody.parse({"task_ids": named or None}).chosen
        type_, format_ = incoming.query.get("type"), incoming.query.get("format")
        if type_ is None and format_ is None:
            context = await self._views.context(incoming, row)
            sizes = await self._exports.sizes(row, chosen)
            types = [name for name, kind in KINDS.items() if row["roles"] & kind.rights.see]
            public = ExportPublic(**context.public, exports=sizes, formats=list(FORMATS), types=types)
            by = {"scope": "matching", "matching": text} if text else {"task_ids": ",".join(named)} if named else {}
            private = ExportPrivate(
                **context.private,
                task_ids="" if text else ",".join(named),
                chosen=urlencode(by),
                kept=[*by.items()],
                tables=_tables(incoming.query),
                others=other_formats(row["info"], locale_of(incoming)),
            )
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
