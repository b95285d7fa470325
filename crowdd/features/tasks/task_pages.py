"""The pages of a project's tasks: progress, the list, one task with its answers, and its history.

The history is for those who run the project.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from crowdd.core.records.history import History
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.results.consensus import FieldConsensus
from crowdd.features.results.result_display import pictures_of, read_asked, text_of, worded_field
from crowdd.features.results.rows import ChoiceProbability
from crowdd.features.tasks.comments import Comments
from crowdd.features.tasks.leases import Leases
from crowdd.features.tasks.map_outlines import outlines_of
from crowdd.features.tasks.marked_media import MarkedMedium, marked_media
from crowdd.features.tasks.rows import TaskComment, TaskContent
from crowdd.features.tasks.task_filters import Chosen, format_filters, parse_agreements, parse_asked, parse_chosen
from crowdd.features.tasks.task_list import (
    AGREEMENT,
    MAX_SORTED,
    PAGE_SIZES,
    PER_PAGE,
    Aside,
    Browsing,
    TaskPagination,
    owns,
)
from crowdd.http import queries
from crowdd.http.api.objects import checked_id
from crowdd.http.html import tables
from crowdd.http.html.forms import Forms
from crowdd.http.html.tables import Table
from crowdd.http.queries import moment
from crowdd.http.reader_language import locale_of, text_language
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, JsonResponse, Page, Redirect, Response
from crowdd.http.routing import Route, Shared, get
from crowdd.kernel.errors import NotFoundError
from crowdd.kernel.values import Values, parse_number
from crowdd.kinds.answers import declared
from crowdd.kinds.answers.words import Words, titles_of, worded_answer, words_of
from crowdd.kinds.roles import REVIEWERS
from crowdd.kinds.types import iso

_AT = "/project/<short_name>/tasks"


class TasksPublic(ProjectPublic):
    """``autoimporter_enabled`` is always false: crowdd has no automatic imports."""

    autoimporter_enabled: bool


class TasksPrivate(ProjectPrivate):
    """``open`` says whether everybody may export data; ``reviews``: the requester may decide tasks."""

    owns: bool
    reviews: bool
    open: bool


class BrowsePublic(ProjectPublic):
    tasks: list[Values]
    pagination: TaskPagination
    chosen: Chosen


class BrowsePrivate(ProjectPrivate):
    """``rows`` are the tasks with ``info_text``, ``contents`` what the table shows of them, by id.

    ``matching`` are the filters for forms that change all tasks that match. ``missing`` is the number of a task that
    was not found. ``sees``: the requester may see what was answered, and it is compared: it is no opinion.
    """

    rows: list[Values]
    contents: dict[int, TaskContent]
    table: Table
    agreements: tuple[str, str]
    matching: str
    owns: bool
    sees: bool
    sorts: bool
    missing: str


class TaskPublic(ProjectPublic):
    """``next`` is the answer that the next page begins after; ``agreement`` is None without counted answers.

    ``fields``: what the counted answers say at each declared field. ``posterior``: how probable each
    choice of the first one is, None where that is not known.
    """

    task: Values
    task_runs: list[Values]
    agreement: Values | None
    fields: list[FieldConsensus]
    posterior: list[ChoiceProbability] | None
    next: int | None
    csrf: str


class TaskPrivate(ProjectPrivate):
    """``volunteers`` and ``counted`` go by the id of the answer; ``skips`` by the reason.

    ``comments`` are for owners, and so are ``repeated``, answers whose person had answered the task before, and
    ``aside``, those that were set aside. ``media`` has the marks of each person, ``pictures`` the texts among which
    their picture is. ``titles`` are the texts of questions by their names; answers, votes and choices have the
    labels of their values.
    """

    task_runs: list[Values]
    agreement: Values | None
    fields: list[Values]
    posterior: list[ChoiceProbability] | None
    titles: dict[str, str]
    volunteers: dict[int, Values]
    counted: dict[int, bool]
    repeated: list[int]
    aside: dict[int, Aside]
    media: list[MarkedMedium]
    pictures: list[str]
    owns: bool
    skips: dict[str, int]
    comments: list[TaskComment]


class TaskPages:
    """``/project/<short_name>/tasks/`` and the pages below it that only show tasks."""

    def __init__(
        self,
        projects: Projects,
        browsing: Browsing,
        leases: Leases,
        comments: Comments,
        forms: Forms,
        views: ProjectViews,
    ) -> None:
        self._projects, self._browsing, self._leases, self._forms = projects, browsing, leases, forms
        self._comments, self._views = comments, views

    def routes(self) -> Iterator[Route]:
        yield get(f"{_AT}/", locked_out(self.overview), hot=True, shared=Shared.NEW_VISITORS)
        yield get(f"{_AT}/browse", locked_out(self.browse), hot=True, shared=Shared.NEW_VISITORS)
        yield get(f"{_AT}/browse/<int:page>", locked_out(self.browse), shared=Shared.NEW_VISITORS)
        yield get(f"{_AT}/<int:task_id>", locked_out(self.task))
        yield get("/project/<short_name>/<int:task_id>/results.json", locked_out(self.answers))

    async def overview(self, incoming: Incoming, short_name: str) -> Response:
        """Their progress, with links to everything else about them (interface: page-tasks)."""
        row = await self._projects.page(short_name, incoming.who)
        context = await self._views.context(incoming, row)
        fields = declared(row["info"])
        labelled = bool(fields) and fields[0].type == "label" and not fields[0].opinion
        reviews = bool(row["roles"] & REVIEWERS) and labelled
        private = TasksPrivate(**context.private, owns=owns(row), reviews=reviews, open=row["zip_download"])
        return Page("project/tasks.html", TasksPublic(**context.public, autoimporter_enabled=False), private)

    async def browse(self, incoming: Incoming, short_name: str, page: int = 1) -> Response:
        """A page of the list. ``words``, ``state`` and ``orderby`` filter and sort; ``id`` leads to one task."""
        row = await self._projects.shown(short_name, incoming.who, text_language(incoming))
        self._browsing.require(incoming.who, row)
        wanted = incoming.query.get("id", "").strip()
        if wanted and (task_id := await self._one(row, wanted)) is not None:
            return Redirect(f"/project/{quote(short_name)}/tasks/{task_id}")
        asked = parse_asked(incoming.query, page, PER_PAGE if incoming.wants_json else PAGE_SIZES[0])
        listed = await self._browsing.tasks(incoming.who, row, asked)
        context = await self._views.context(incoming, row)
        public = BrowsePublic(
            **context.public,
            tasks=[{name: value for name, value in task.items() if name != "info_text"} for task in listed.tasks],
            pagination=listed.pagination,
            chosen=parse_chosen(incoming.query),
        )
        if incoming.wants_json:
            return Page("project/browse.html", public)
        columns, shown = await self._browsing.columns(row, _columns(incoming))
        contents = await self._browsing.contents(row, [task["id"] for task in listed.tasks], shown)
        first = next(iter(declared(row["info"])), None)
        compares = self._browsing.sees_answers(row) and not (first and first.opinion)
        if incoming.query.get("csv"):
            return _csv(row, shown, listed.tasks, contents)
        private = BrowsePrivate(
            **context.private,
            rows=listed.tasks,
            contents=_worded(contents, words_of(row["info"], locale_of(incoming)).get(first.name) if first else None),
            table=_table(incoming, row, columns, shown, listed.per_page, compares),
            agreements=parse_agreements(incoming.query),
            matching=format_filters(incoming.query),
            owns=owns(row),
            sees=compares,
            sorts=int(row["n_tasks"]) <= MAX_SORTED,
            missing=wanted,
        )
        return Page("project/browse.html", public, private)

    async def _one(self, row: ProjectPage, wanted: str) -> int | None:
        """The task that a number names, or None."""
        number = parse_number(wanted)
        return number if number is not None and await self._browsing.has(row, number) else None

    async def task(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """One task with its answers; those after ``last_id`` if there are many."""
        row = await self._projects.shown(short_name, incoming.who, text_language(incoming))
        after = queries.parse_number(incoming.query.get("last_id", ""), "last_id", 0)
        task_details = await self._browsing.task(incoming.who, row, task_id, after)
        context = await self._views.context(incoming, row)
        public = TaskPublic(
            **context.public,
            task=task_details["task"],
            task_runs=task_details["task_runs"],
            agreement=task_details["agreement"],
            fields=task_details["fields"],
            posterior=task_details["posterior"],
            next=task_details["next"],
            csrf=self._forms.csrf.token(incoming),
        )
        words = words_of(row["info"], locale_of(incoming))
        first = words.get(task_details["fields"][0]["name"], Words("")) if task_details["fields"] else Words("")
        agreement, posterior = task_details["agreement"], task_details["posterior"]
        votes = [{**vote, "value": first.said(vote["value"])} for vote in agreement["votes"]] if agreement else []
        asked, task_info = read_asked(row["info"]), task_details["task"]["info"]
        private = TaskPrivate(
            **context.private,
            task_runs=[{**run, "info": worded_answer(run["info"], words)} for run in task_details["task_runs"]],
            agreement=agreement and {**agreement, "votes": votes},
            fields=[worded_field({**field}, words) for field in task_details["fields"]],
            posterior=None if posterior is None else [{**one, "value": first.said(one["value"])} for one in posterior],
            titles=titles_of(words),
            volunteers=task_details["volunteers"],
            counted=task_details["counted"],
            repeated=task_details["repeated"],
            aside=task_details["aside"],
            media=marked_media(
                declared(row["info"]),
                task_details["task_runs"],
                task_details["fields"],
                words,
                text_of(task_info, asked),
                outlines_of(row["info"], task_info),
            ),
            pictures=pictures_of(task_info, asked),
            owns=owns(row),
            skips=await self._leases.skips(row["id"], task_id) if owns(row) else {},
            comments=await self._comments.of_task(row, task_id) if owns(row) and not incoming.wants_json else [],
        )
        return Page("project/task.html", public, private)

    async def answers(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """Up to a hundred answers to a task, those after ``last_id`` (interface: page-tasks-results-json)."""
        row = await self._projects.page(short_name, incoming.who)
        after = queries.parse_number(incoming.query.get("last_id", ""), "last_id", 0)
        return JsonResponse((await self._browsing.task(incoming.who, row, task_id, after))["task_runs"])


def _worded(contents: dict[int, TaskContent], words: Words | None) -> dict[int, TaskContent]:
    """With the labels of choices in what the answers say together."""
    if words is None:
        return contents
    return {nth: {**one, "consensus": words.said(one["consensus"])} for nth, one in contents.items()}


def _table(
    incoming: Incoming, row: ProjectPage, columns: list[str], shown: list[str], per_page: int, sees: bool
) -> Table:
    """The table of the list: who may sort by what, and what the address says."""
    sorts = ["id"]
    if owns(row):
        sorts += ["priority_0", *(["n_task_runs"] if int(row["n_tasks"]) <= MAX_SORTED else [])]
    if sees:
        sorts.append(AGREEMENT)
    chosen, (minimum, maximum) = (
        parse_chosen(incoming.query),
        parse_agreements(incoming.query),
    )
    filters = {
        "words": chosen["words"],
        "state": chosen["state"] or "",
        "min_agreement": minimum,
        "max_agreement": maximum,
        "orderby": chosen["orderby"],
        "desc": "1" if chosen["desc"] else "",
        "per_page": incoming.query.get("per_page", ""),
        "columns": [""] if _columns(incoming) == [] else incoming.all_of("columns"),
    }
    return tables.build_table(filters, columns=columns, shown=shown, per_page=per_page, sizes=PAGE_SIZES, orders=sorts)


def _columns(incoming: Incoming) -> list[str] | None:
    """The columns that the address names; None if it leaves them to us."""
    return incoming.all_of("columns") if "columns" in incoming.query else None


def _csv(row: ProjectPage, shown: list[str], tasks: list[Values], contents: dict[int, TaskContent]) -> BytesResponse:
    """The table as CSV, with the columns that it shows."""
    headings = ["id", *shown, "n_task_runs", "n_answers", "priority_0", "state", "consensus", "agreement"]
    rows = []
    for task in tasks:
        content = contents.get(task["id"])
        cells = content["cells"] if content else [None] * len(shown)
        answers = [content["consensus"], content["agreement"]] if content else [None, None]
        task_cells = [task["n_task_runs"], task["n_answers"], task["priority_0"], task["state"]]
        rows.append([task["id"], *cells, *task_cells, *answers])
    return tables.as_csv(f"{row['short_name']}_tasks", headings, rows)


class TaskHistoryPublic(ProjectPublic):
    """``times`` (``at``, ``what``): when it changed, the latest first. The rest is null unless a time is asked for."""

    task_id: int
    times: list[Values]
    at: str | None
    task: Values | None
    task_runs: list[Values] | None
    result: Values | None


class TaskHistoryPrivate(ProjectPrivate):
    """``now``: the task is still there. ``cut``: there may be earlier times. ``titles`` as in TaskPrivate."""

    now: bool
    cut: bool
    task_runs: list[Values] | None
    titles: dict[str, str]


class TaskHistoryPages:
    """``/project/<short_name>/tasks/<id>/history``."""

    def __init__(self, projects: Projects, history: History, views: ProjectViews) -> None:
        self._projects, self._history, self._views = projects, history, views

    def routes(self) -> Iterator[Route]:
        yield get("/project/<short_name>/tasks/<int:task_id>/history", locked_out(self.page))

    async def page(self, incoming: Incoming, short_name: str, task_id: int) -> Response:
        """When the task, its answers and its result changed; with ``at``, what they were.

        (interface: page-task-history)
        """
        row = await self._projects.owned(short_name, incoming.who)
        who, task_id = incoming.who, checked_id(task_id)
        times, cut = await self._history.times(who, row["id"], task_id)
        if not times and not await self._history.exists(row["id"], task_id):
            raise NotFoundError("404 Not Found")
        asked = incoming.query.get("at")
        at = moment(asked) if asked else None
        past = await self._history.task(who, row["id"], task_id, at) if at else None
        context = await self._views.context(incoming, row)
        public = TaskHistoryPublic(
            **context.public,
            task_id=task_id,
            times=[{"at": iso(time["at"]), "what": time["what"]} for time in times],
            at=iso(at) if at else None,
            task=past.task if past else None,
            task_runs=past.answers if past else None,
            result=past.result if past else None,
        )
        exists = not times or "deleted" not in times[0]["what"]
        words = words_of(row["info"], locale_of(incoming))
        private = TaskHistoryPrivate(
            **context.private,
            now=exists,
            cut=cut,
            task_runs=[{**run, "info": worded_answer(run["info"], words)} for run in past.answers] if past else None,
            titles=titles_of(words),
        )
        return Page("project/task_history.html", public, private)
