"""The pages with a presenter: contributing, the tutorial, and the results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict
from urllib.parse import quote

from crowdd.core.text.rendered_text import Laid
from crowdd.features.presenters.frames import FrameFiles, PresenterContexts, PresenterFrames
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import Contributors, ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.questions import presenter_contents
from crowdd.features.questions.first_step import first_step
from crowdd.features.results import agreement_chart, result_display
from crowdd.features.results.agreement_chart import AgreementChart
from crowdd.features.results.alpha import Alpha
from crowdd.features.results.charts import Charts
from crowdd.features.results.consensus import FieldSummary
from crowdd.features.results.maps import MapDrawing, draw_map
from crowdd.features.results.outcome_statements import FailedComparisons
from crowdd.features.results.question_results import Method, method_of, shown_fields
from crowdd.features.results.result_display import Drawings, Filters, ShownOutcome, drawings
from crowdd.features.results.results import Asked, FinishedTasks, Together
from crowdd.features.results.rows import AgreementFigures, ResultSummary
from crowdd.features.results.suggestion_influence import Influence
from crowdd.features.tasks.contributions import Contributions
from crowdd.http.auth.confirmation import Confirm
from crowdd.http.reader_language import locale_of, text_language
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, Shared, get, post
from crowdd.kernel.errors import AnonymousError, NotFoundError
from crowdd.kernel.languages import _, ngettext
from crowdd.kernel.values import Values
from crowdd.kinds.answers import declared
from crowdd.kinds.answers.words import titles_of, words_of
from crowdd.kinds.roles import OWNERS

_TITLES: dict[presenter_contents.Kind, str] = {
    "newtask": _("Contribute"),
    "task": _("Contribute"),
    "tutorial": _("Tutorial"),
    "results": _("Results"),
}
_MAX_ID = 2**63 - 1


class ResultCount(TypedDict, total=False):
    """Only on the page of results."""

    n_results: int


class PresenterPublic(ProjectPublic, ResultCount):
    pass


class PresenterPrivate(ProjectPrivate):
    """``presenter`` is what the frame and its bridge get; ``prose`` the long description."""

    presenter: Values
    prose: Laid


class MissingPrivate(ProjectPrivate):
    """``missing`` is what the project lacks for this page: presenter, tutorial or tasks."""

    missing: str


class RetryToken(TypedDict, total=False):
    """Only for owners of a project in which something could not be compared: the token of the button."""

    csrf: str


class ResultsPublic(PresenterPublic, RetryToken):
    """For those who may see results: all results together, a page of them, and the place of the next page.

    ``fields`` has the same as ``summary`` for each declared answer field, and ``alpha`` Krippendorff's alpha of each.
    ``charts`` and ``agreement_figures`` are on the first page without filters, where tasks have a place or a date, and
    where an analysis has measured agreement.
    """

    summary: ResultSummary
    fields: list[FieldSummary]
    alpha: list[Alpha]
    charts: Charts | None
    agreement_figures: AgreementFigures | None
    rows: list[Values]
    next: int | None


class ResultsPrivate(ProjectPrivate):
    """``first`` says whether this is the first page, ``sees`` whether the requester may see results.

    ``contributors`` are on the first page without filters, and ``asked`` (each question with its picture: ``places``
    draws its map, ``tables`` have the outcomes of facts) and ``method``. ``failed`` is for owners: what could not be
    compared; so are ``influences``, what suggestions do. ``titles`` are the texts of questions by the names of fields.
    """

    asked: Asked | None
    places: dict[str, MapDrawing]
    tables: dict[int, list[ShownOutcome]]
    method: Method | None
    titles: dict[str, str]
    rows: list[Values]
    outcomes: list[ShownOutcome]
    drawn: Drawings | None
    agreement_chart: AgreementChart | None
    contributors: Contributors | None
    chosen: Filters
    first: bool
    sees: bool
    owns: bool
    failed: FailedComparisons | None
    influences: list[Influence]


class PresentingPages:
    """newtask, task, tutorial and results: one page, whose frame shows the owner's document."""

    def __init__(
        self,
        projects: Projects,
        contributions: Contributions,
        finished_tasks: FinishedTasks,
        contexts: PresenterContexts,
        frames: PresenterFrames,
        confirm: Confirm,
        views: ProjectViews,
    ) -> None:
        self._projects, self._contributions, self._finished_tasks = projects, contributions, finished_tasks
        self._contexts, self._frames, self._confirm, self._views = contexts, frames, confirm, views

    def routes(self) -> Iterator[Route]:
        newtask = locked_out(self.newtask)
        yield get("/project/<short_name>/newtask", newtask, action="answer", hot=True, shared=Shared.NEW_VISITORS)
        yield get("/project/<short_name>/task/<int:task_id>", locked_out(self.task), action="answer")
        yield get("/project/<short_name>/tutorial", locked_out(self.tutorial))
        yield get("/project/<short_name>/results", locked_out(self.results))
        yield post("/project/<short_name>/results/compare", locked_out(self.compare_again))

    async def newtask(self, incoming: Incoming, short_name: str) -> Response:
        return await self._page(incoming, short_name, "newtask")

    async def task(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """The page of one task. Its script leases the task; for programs the request itself does."""
        return await self._page(incoming, short_name, "task", task_id)

    async def tutorial(self, incoming: Incoming, short_name: str) -> Response:
        return await self._page(incoming, short_name, "tutorial")

    async def results(self, incoming: Incoming, short_name: str) -> Response:
        """The owner's document; without one the finished tasks (those before one result: ``before``)."""
        return await self._page(incoming, short_name, "results")

    async def compare_again(self, incoming: Incoming, short_name: str) -> Response:
        """Has what could not be compared tried again."""
        row = await self._projects.owned(short_name, incoming.who)
        n = await self._finished_tasks.compare_again(row, incoming.who)
        words = ngettext("%(num)s comparison is being tried again.", "%(num)s comparisons are being tried again.", n)
        return Redirect(f"/project/{quote(short_name)}/results", words, more={"n_comparisons": n})

    async def _finished(
        self, incoming: Incoming, row: ProjectPage, public: PresenterPublic, shared: ProjectPrivate
    ) -> Response:
        """The page of finished tasks. It lists them for people who may see answers."""
        sees = self._finished_tasks.may_see(row)
        wanted = result_display.choose_results(incoming.query)
        private = ResultsPrivate(
            **shared,
            asked=None,
            places={},
            tables={},
            method=None,
            titles={},
            rows=[],
            outcomes=[],
            drawn=None,
            agreement_chart=None,
            contributors=None,
            chosen=result_display.read_filters(incoming.query),
            first=wanted.before is None,
            sees=sees,
            owns=bool(row["roles"] & OWNERS),
            failed=await self._finished_tasks.failed(row),
            influences=[],
        )
        if not sees:
            return Page("project/presenter.html", public, private, drawn_as="project/results.html")
        page = await self._finished_tasks.page(row, wanted)
        asked = result_display.read_asked(row["info"])
        shown_tasks = [result_display.show_task(task, asked) for task in page.tasks]
        together = await self._finished_tasks.together(row)
        words = words_of(row["info"], locale_of(incoming))
        private["titles"] = titles_of(words)
        private["rows"] = [result_display.worded(task, words) for task in shown_tasks]
        private["outcomes"] = [
            result_display.show_outcome(one, words.get(together.fields[0]["name"]) if together.fields else None)
            for one in together.summary["outcomes"]
        ]
        charts, figures = None, None
        if result_display.is_whole_list(wanted):
            charts = await self._finished_tasks.charts(row, page)
            figures = await self._finished_tasks.agreement(row)
            private["agreement_chart"] = agreement_chart.chart(figures["measures"]) if figures else None
            if not incoming.wants_json:
                private["influences"] = await self._finished_tasks.influences(row)
                private["contributors"] = await self._finished_tasks.contributors(row, incoming.who)
                await self._ask(incoming, row, together, private)
        private["drawn"] = drawings(charts) if charts else None
        rows = [result_display.public_task(task) for task in shown_tasks]
        retry: RetryToken = {"csrf": self._confirm.csrf.token(incoming)} if private["failed"] else {}
        shown = ResultsPublic(
            **public,
            summary=together.summary,
            fields=together.fields,
            alpha=together.alpha,
            charts=charts,
            agreement_figures=figures,
            rows=rows,
            next=page.next,
            **retry,
        )
        return Page("project/presenter.html", shown, private, drawn_as="project/results.html")

    async def _ask(self, incoming: Incoming, row: ProjectPage, together: Together, private: ResultsPrivate) -> None:
        """Adds each question with its picture, and how the results were made."""
        crossed = incoming.query.get("of", ""), incoming.query.get("by", "")
        asked = await self._finished_tasks.asked(row, locale_of(incoming), crossed)
        summary = together.summary
        private["asked"] = asked
        words = words_of(row["info"], locale_of(incoming))
        private["tables"] = {
            nth: [result_display.show_outcome(one, words.get(field["name"])) for one in field["outcomes"]]
            for nth, field in enumerate(together.fields)
        }
        private["places"] = {one["name"]: draw_map(one["points"]) for one in asked.questions if one["points"]}
        private["method"] = method_of(
            row["info"],
            shown_fields(row["info"], declared(row["info"])),
            per_task=summary["answers"] / summary["tasks"] if summary["tasks"] else None,
            decided=asked.decided,
            anonymous=row["allow_anonymous_contributors"],
            gold=row["has_gold"],
        )

    async def _page(
        self, incoming: Incoming, short_name: str, kind: presenter_contents.Kind, task_id: int | None = None
    ) -> Response:
        if incoming.is_frame:
            return await self._frames.presenter(incoming, short_name, kind)
        row = await self._projects.shown(short_name, incoming.who, text_language(incoming))
        if kind in ("newtask", "task"):
            self._require_account(incoming, row)
        if task_id is not None:
            await self._lease_or_find(incoming, row, task_id)
        context = await self._views.context(incoming, row, _TITLES[kind])
        count: ResultCount = {"n_results": int(row["n_results"])} if kind == "results" else {}
        public = PresenterPublic(**context.public, **count)
        if kind == "results" and not presenter_contents.source(row["info"], kind).strip():
            return await self._finished(incoming, row, public, context.private)
        if missing := _missing(row, kind):
            private = MissingPrivate(**context.private, missing=missing)
            return Page("project/presenter.html", public, private, drawn_as="project/no_task.html")
        shown = await self._contexts.of(incoming.who, row, kind, task_id)
        first = first_step(row["info"], locale_of(incoming)) if _declares(row, kind) else None
        files = self._frames.files(row["info"]) if first else FrameFiles(paths=[], bytes=0)
        prose = await self._views.prose([row["long_description"]])
        presenter = {**shown, "first": first, **files}
        shown_page = PresenterPrivate(**context.private, presenter=presenter, prose=prose)
        return Page("project/presenter.html", public, shown_page, inlined=True)

    async def _lease_or_find(self, incoming: Incoming, row: ProjectPage, task_id: int) -> None:
        """Leases the task if the request may act (``Confirm.acts``). Crawlers and previews must not lease tasks."""
        if task_id > _MAX_ID:
            raise NotFoundError("404 Not Found")
        if self._confirm.acts(incoming):
            await self._contributions.hold(incoming.who, row["id"], task_id)
        else:
            await self._contributions.require_task(row["id"], task_id)

    def _require_account(self, incoming: Incoming, row: ProjectPage) -> None:
        if not row["allow_anonymous_contributors"] and not incoming.who.signed_in:
            words = _("This project needs an account. Sign in or create one, and you come back to its tasks.")
            raise AnonymousError(words, code="members_only")


def _declares(row: ProjectPage, kind: presenter_contents.Kind) -> bool:
    """Whether a page shows the questions of a project, without HTML of the owner."""
    return kind in ("newtask", "task") and not presenter_contents.is_written(row["info"], kind)


def _missing(row: ProjectPage, kind: presenter_contents.Kind) -> str:
    """What the page needs and the project lacks: presenter, tutorial or tasks; "" if nothing is missing."""
    if kind == "results":
        return ""
    if not presenter_contents.has(row["info"], kind):
        return "tutorial" if kind == "tutorial" else "presenter"
    return "" if kind == "tutorial" or row["n_tasks"] else "tasks"
