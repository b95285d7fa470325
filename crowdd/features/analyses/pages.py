"""Analyses of the answers of a project: the list, starting one, and what it found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

import attrs

from crowdd.features.analyses import analyses
from crowdd.features.analyses.analyses import MAX_KEPT, Analyses, AnalysisBody, TaskFinding
from crowdd.features.analyses.methods import EXTRA, LABELS, METHODS, Method
from crowdd.features.analyses.rows import AnalysisRow, ItemEstimate, VolunteerEstimate
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.views import ProjectContext, ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.results.agreement_chart import AgreementChart, chart
from crowdd.features.results.rows import AgreementFigures
from crowdd.features.tasks.changes import Effect
from crowdd.http import queries
from crowdd.http.auth.csrf import Csrf
from crowdd.http.html.tables import PageLinks, RowList, Table, outward_rows
from crowdd.http.request import Incoming
from crowdd.http.responses import Download, Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import ConflictError, InvalidValueError, TooManyRequestsError
from crowdd.kernel.languages import _, ngettext
from crowdd.kernel.values import Values

_AT: Final = "/project/<short_name>/analyses"
_ONE: Final = f"{_AT}/<int:analysis_id>"
_TASKS: Final = RowList(("task_id",), descending=False)
_VOLUNTEERS: Final = RowList(("accuracy",), descending=False, coded=True)


class AnalysesPublic(ProjectPublic):
    """``suggested`` is the method that suits the project; ``refusal`` says why its answers cannot be analysed."""

    items: list[Values]
    methods: list[Values]
    suggested: str
    refusal: str
    max_kept: int
    extra: str
    csrf: str


class AnalysisPublic(ProjectPublic):
    """``tasks`` are those whose result said something else, or ``all`` tasks; none until the analysis is done.

    ``figures``: how far volunteers agree, by an analysis of that. ``items``: those that volunteers compared.
    """

    analysis: Values
    tasks: list[TaskFinding]
    all: bool
    next: int | None
    csrf: str
    figures: AgreementFigures | None
    items: list[ItemEstimate]
    replaces: bool


class AnalysisVolunteersPublic(ProjectPublic):
    analysis: Values
    volunteers: list[VolunteerEstimate]
    next: str | None


class WithRows(ProjectPrivate):
    """The table around the rows of a page."""

    table: Table
    page_links: PageLinks


class WithFigures(WithRows):
    """The drawing of the figures of agreement."""

    chart: AgreementChart | None


class AnalysisPages:
    """``/project/<short_name>/analyses``."""

    def __init__(self, projects: Projects, analyses: Analyses, csrf: Csrf, views: ProjectViews) -> None:
        self._projects, self._analyses, self._csrf, self._views = projects, analyses, csrf, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(_AT, locked_out(self.start))
        yield get(_ONE, locked_out(self.one))
        yield get(f"{_ONE}/volunteers", locked_out(self.volunteers))
        yield get(f"{_ONE}/tasks.csv", locked_out(self.tasks_file))
        yield get(f"{_ONE}/items.csv", locked_out(self.items_file))
        yield get(f"{_ONE}/volunteers.csv", locked_out(self.volunteers_file))
        yield post(f"{_ONE}/apply", locked_out(self.apply))
        yield post(f"{_ONE}/delete", locked_out(self.delete))

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """All analyses, the newest first, and the form that starts one."""
        row = await self._projects.owned(short_name, incoming.who)
        analyses = await self._analyses.listed(incoming.who, row["id"])
        advice = await self._analyses.advice(row["id"], row["info"])
        context = await self._views.context(incoming, row, _("Analyses"))
        public = AnalysesPublic(
            **context.public,
            items=outward_rows(analyses),
            methods=[_method(each) for each in advice["methods"]],
            suggested=advice["suggested"],
            refusal=advice["refusal"],
            max_kept=MAX_KEPT,
            extra=EXTRA,
            csrf=self._csrf.token(incoming),
        )
        return Page("project/analyses.html", public, context.private)

    async def start(self, incoming: Incoming, short_name: str) -> Response:
        """Starts an analysis with the ``method`` and the ``answers`` of the form."""
        row = await self._projects.owned(short_name, incoming.who)
        body = {name: incoming.field(name) for name in ("method", "answers") if incoming.field(name)}
        here = f"/project/{quote(short_name)}/analyses"
        try:
            begun = await self._analyses.add(incoming.who, row["id"], AnalysisBody.parse(body))
        except (ConflictError, InvalidValueError, TooManyRequestsError) as error:
            return Redirect(here, error.args[0], "error")
        words = _("The analysis has started. It continues when you close this page.")
        return Redirect(here, words, more={"analysis": outward_rows([begun])[0]})

    async def one(self, incoming: Incoming, short_name: str, analysis_id: int) -> Response:
        """An analysis with the tasks whose result said something else; with ``all`` those of all tasks."""
        title = _("Analysis %(number)s", number=analysis_id)
        context, analysis = await self._shown(incoming, short_name, analysis_id, title)
        every = queries.parse_flag(incoming.query.get("all", ""), "all")
        place = _TASKS.place(incoming)
        part = await self._analyses.tasks(analysis, place, different=not every)
        figures = await self._analyses.agreement(analysis)
        public = AnalysisPublic(
            **context.public,
            analysis=outward_rows([analysis])[0],
            tasks=part.rows,
            all=every,
            next=part.rows[-1]["task_id"] if part.next else None,
            csrf=self._csrf.token(incoming),
            figures=figures,
            items=await self._analyses.items(analysis),
            replaces=figures is None and METHODS[analysis["method"]].takes == LABELS,
        )
        drawn = _TASKS.drawn(place, {"all": "1" if every else ""}, part, lambda one: int(one["task_id"]))
        private = WithFigures(**context.private, **drawn, chart=chart(figures["measures"]) if figures else None)
        return Page("project/analysis.html", public, private)

    async def volunteers(self, incoming: Incoming, short_name: str, analysis_id: int) -> Response:
        """The volunteers of an analysis, the least accurate first."""
        title = _("Accuracy of volunteers")
        context, analysis = await self._shown(incoming, short_name, analysis_id, title)
        place = _VOLUNTEERS.place(incoming)
        part = await self._analyses.volunteers(analysis, place)
        public = AnalysisVolunteersPublic(
            **context.public,
            analysis=outward_rows([analysis])[0],
            volunteers=part.rows,
            next=part.rows[-1]["volunteer"] if part.next else None,
        )
        drawn = _VOLUNTEERS.drawn(place, {}, part, lambda one: str(one["volunteer"]))
        return Page("project/analysis_volunteers.html", public, WithRows(**context.private, **drawn))

    async def tasks_file(self, incoming: Incoming, short_name: str, analysis_id: int) -> Response:
        """All tasks as CSV."""
        analysis = await self._analysis(incoming, short_name, analysis_id)
        parts = analyses.list_task_lines(self._analyses, analysis)
        return Download(f"{short_name}_analysis_{analysis_id}_tasks.csv", analyses.CSV_CONTENT_TYPE, parts)

    async def items_file(self, incoming: Incoming, short_name: str, analysis_id: int) -> Response:
        """All items as CSV."""
        analysis = await self._analysis(incoming, short_name, analysis_id)
        parts = analyses.list_item_lines(self._analyses, analysis)
        return Download(f"{short_name}_analysis_{analysis_id}_items.csv", analyses.CSV_CONTENT_TYPE, parts)

    async def volunteers_file(self, incoming: Incoming, short_name: str, analysis_id: int) -> Response:
        """All volunteers as CSV."""
        analysis = await self._analysis(incoming, short_name, analysis_id)
        parts = analyses.list_volunteer_lines(self._analyses, analysis)
        return Download(f"{short_name}_analysis_{analysis_id}_volunteers.csv", analyses.CSV_CONTENT_TYPE, parts)

    async def apply(self, incoming: Incoming, short_name: str, analysis_id: int) -> Response:
        """Has results say what the analysis says. ``btn`` = ``Effect`` only says how many would change."""
        row = await self._projects.owned(short_name, incoming.who)
        here = f"/project/{quote(short_name)}/analyses/{analysis_id}"
        dry_run = incoming.field("btn") == "Effect"
        try:
            done = await self._analyses.apply(incoming.who, row["id"], analysis_id, dry_run)
        except (ConflictError, InvalidValueError) as error:
            return Redirect(here, error.args[0], "error")
        return Redirect(here, _applied(done), more={"effect": attrs.asdict(done)})

    async def delete(self, incoming: Incoming, short_name: str, analysis_id: int) -> Response:
        row = await self._projects.owned(short_name, incoming.who)
        await self._analyses.delete(incoming.who, row["id"], analysis_id)
        return Redirect(f"/project/{quote(short_name)}/analyses", _("The analysis has been deleted."))

    async def _analysis(self, incoming: Incoming, short_name: str, analysis_id: int) -> AnalysisRow:
        row = await self._projects.owned(short_name, incoming.who)
        return await self._analyses.get(incoming.who, row["id"], analysis_id)

    async def _shown(
        self, incoming: Incoming, short_name: str, analysis_id: int, title: str
    ) -> tuple[ProjectContext, AnalysisRow]:
        """An analysis, and the context of a page with this title."""
        row = await self._projects.owned(short_name, incoming.who)
        analysis = await self._analyses.get(incoming.who, row["id"], analysis_id)
        return await self._views.context(incoming, row, title), analysis


def _applied(done: Effect) -> str:
    """What to say of results that were replaced, or would be."""
    count = f"{done.tasks:,}"
    if done.dry_run:
        return ngettext("%(count)s result would change.", "%(count)s results would change.", done.tasks, count=count)
    words = ngettext("%(count)s result changed.", "%(count)s results changed.", done.tasks, count=count)
    if done.queue_item is not None:
        words = ngettext("%(count)s result is changing.", "%(count)s results are changing.", done.tasks, count=count)
    return words


def _method(method: Method) -> Values:
    """As the form shows it."""
    return {
        "name": method.name,
        "installed": method.installed,
        "max_answers": method.max_answers,
    }
