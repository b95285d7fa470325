"""The list of a project's tasks, one task with all its answers, and the tasks that a change of many is about.

A change names its tasks, has a filter that they match, or is about all.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict

import attrs
import orjson

from crowdd.core.records import rights
from crowdd.core.records.records import Records
from crowdd.core.text.words import Pagination
from crowdd.database.access import Database
from crowdd.features.projects import statements as project_statements
from crowdd.features.projects.ownership import complete_only
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.results.consensus import FieldConsensus, by_field
from crowdd.features.results.rows import ChoiceProbability, Said, Vote
from crowdd.features.tasks import change_statements, list_statements
from crowdd.features.tasks.change_statements import Chosen
from crowdd.features.tasks.list_statements import OF_OWNERS, ORDERS, STATES, PageStart, TaskFilter
from crowdd.features.tasks.rows import ListedRun, ListedTask, TaskContent
from crowdd.kernel.errors import NOT_FOUND, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds import column_roles
from crowdd.kinds.answers import declared
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import OWNERS
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN

PER_PAGE = 10
PAGE_SIZES = (25, 50, 100)
AGREEMENT = "agreement"
"""The order of the last results of tasks; tasks without one are left out."""
MAX_COLUMNS = 12
_FIRST_COLUMNS = 4
_FILE_NAME = "filename"  # the column that uploads write
_TELLING = ("picture", "title", "caption", "text", "sound", "video", "place", "date", "identifier")
MAX_PASSED = 20_000  # rows that a page by its number may pass over; further ones begin at an ordinal
MAX_SORTED = 200_000  # tasks of a project that are sorted by their answers, which no index can do
MAX_WALKED = 20_000  # tasks that one page looks through for words, which no index can do
MAX_WORDS = 200  # characters
MAX_RUNS = 100  # answers on one page of a task
_SHOWN_VOTES = 10
_MAX_ID = 2**63 - 1


@attrs.frozen
class Asked:
    """What somebody wants to see: a page by its number, or the one behind ``after`` or before ``before``.

    Agreements are percentages, cut at the point. They need the order AGREEMENT.
    """

    page: int = 1
    state: str | None = None
    order: str = "id"
    descending: bool = False
    after: int | None = None
    before: int | None = None
    words: str = ""
    per_page: int = PER_PAGE
    min_agreement: int | None = None
    max_agreement: int | None = None

    def __attrs_post_init__(self) -> None:
        if self.words and (self.order != "id" or len(self.words) > MAX_WORDS):
            raise InvalidValueError(
                _("A search may have at most %(maximum)s characters and must be sorted by number.", maximum=MAX_WORDS)
            )
        if self.state is not None and self.state not in STATES:
            raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="state", choices=", ".join(STATES)))
        if self.order not in (*ORDERS, AGREEMENT):
            orders = ", ".join((*ORDERS, AGREEMENT))
            raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="orderby", choices=orders))
        if self.per_page not in (PER_PAGE, *PAGE_SIZES):
            sizes = ", ".join(map(str, (PER_PAGE, *PAGE_SIZES)))
            raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="per_page", choices=sizes))

    @property
    def agreements(self) -> tuple[float | None, float | None]:
        """The least agreement, and the one below which all are; 0 to 1."""
        below = None if self.max_agreement is None or self.max_agreement >= 100 else (self.max_agreement + 1) / 100
        return None if self.min_agreement is None else self.min_agreement / 100, below

    @property
    def filter(self) -> TaskFilter:
        """What all the tasks of the list have in common."""
        minimum, below = self.agreements if self.order == AGREEMENT else (None, None)
        if self.order == AGREEMENT and minimum is None:
            minimum = 0.0  # a task without a result is not in this order
        words = tuple(orjson.dumps(word).decode()[1:-1] for word in self.words.split())  # as JSON writes them
        return TaskFilter(self.state, words, minimum, below)


class TaskPagination(Pagination):
    """With the ids before and after which the neighbouring pages begin; None without such a page."""

    before: int | None
    after: int | None


class Aside(TypedDict):
    """Why an answer was set aside; ``at`` None: with all answers of its volunteer, who is barred."""

    reason: str | None
    at: datetime | None
    by: str | None


class TaskAnswers(TypedDict):
    """A task with answers. ``volunteers`` (for owners) and ``counted`` go by the id of the answer.

    ``repeated`` (for owners) has the answers whose person had answered the task before, as another volunteer,
    ``aside`` (for owners) those that an owner set aside, by themselves or with their volunteer.
    ``fields``: what the counted answers say at each declared field. ``posterior``: how probable each choice of the
    first one is; None where that is not known. ``next`` is the answer behind which more follow, None at the end.
    """

    task: Values
    task_runs: list[Values]
    agreement: Values | None
    fields: list[FieldConsensus]
    posterior: list[ChoiceProbability] | None
    volunteers: dict[int, Values]
    counted: dict[int, bool]
    repeated: list[int]
    aside: dict[int, Aside]
    next: int | None


@attrs.frozen
class TaskListPage:
    """A page of tasks. ``total`` are all that fit.

    Where words were looked for, that is how many were to be looked through, and ``searched_to`` the task that was come
    to, None at the end.
    """

    tasks: list[Values]
    page: int
    total: int
    per_page: int = PER_PAGE
    by_words: bool = False
    searched_to: int | None = None

    @property
    def pagination(self) -> TaskPagination:
        """As pages of lists say it, with the ids before and after which others go on."""
        ids = [task["id"] for task in self.tasks]
        if self.by_words:
            return {
                "page": self.page,
                "per_page": self.per_page,
                "total": self.total,
                "prev": False,
                "next": self.searched_to is not None,
                "before": None,
                "after": self.searched_to,
            }
        return {
            "page": self.page,
            "per_page": self.per_page,
            "total": self.total,
            "prev": self.page > 1,
            "next": self.page * self.per_page < self.total,
            "before": ids[0] if ids else None,
            "after": ids[-1] if ids else None,
        }


class Browsing:
    """Tasks for people, page by page."""

    def __init__(self, db: Database, records: Records) -> None:
        self._db, self._records = db, records

    def require(self, who: Requester, row: ProjectPage) -> None:
        """Owners may look always, others unless the project keeps its answers to itself (``zip_download``).

        Nor while it has gold tasks: these are never complete, and lists of states would tell them.
        """
        if not row["zip_download"] or row["has_gold"]:
            rights.require(who, row["roles"], OWNERS)

    async def tasks(self, who: Requester, row: ProjectPage, asked: Asked) -> TaskListPage:
        """Tasks of a project (a row of ``Projects.page``). Other orders than by id are for its owners.

        Raises NotFoundError for a page beyond the last, ForbiddenError, AnonymousError.
        """
        self.require(who, row)
        if asked.order == AGREEMENT:
            return await self._agreed(who, row, asked)
        if asked.order != "id" or asked.state in OF_OWNERS:
            rights.require(who, row["roles"], OWNERS)
        if asked.order in ("n_task_runs", "n_skips") and int(row["n_tasks"]) > MAX_SORTED:
            words = _("Only up to %(maximum)s tasks can be sorted by their answers.", maximum=f"{MAX_SORTED:,}")
            raise InvalidValueError(words)
        if asked.state in OF_OWNERS:
            total = await list_statements.count_in_state(self._db, row["id"], asked.state)
        else:
            total = total_of(row, asked.state)
        if asked.words:
            return await self._holding(row, asked, total)
        if asked.page > max(1, -(-total // asked.per_page)):
            raise NotFoundError(NOT_FOUND)
        far = (asked.page - 1) * asked.per_page > MAX_PASSED
        had = await project_statements.count_ordinals(self._db, row["id"]) if far else 0
        task_rows = await list_statements.list_tasks(
            self._db, row["id"], place_of(asked, total, had), asked.per_page, owns=owns(row)
        )
        return TaskListPage([_listed(task) for task in task_rows], asked.page, total, asked.per_page)

    async def _agreed(self, who: Requester, row: ProjectPage, asked: Asked) -> TaskListPage:
        """In the order of agreement, for those who see answers. ``total`` is counted as far as pages by number go."""
        rights.require(who, row["roles"], RESULT.rights.see)
        if asked.state == "ongoing":
            return TaskListPage([], 1, 0, asked.per_page)
        minimum, below = asked.agreements
        total = await list_statements.count_agreed(self._db, row["id"], minimum, below, MAX_PASSED + 1)
        place = place_of(asked, total, 0)
        task_rows = await list_statements.list_by_agreement(
            self._db, row["id"], place, minimum, below, asked.per_page, owns=owns(row)
        )
        return TaskListPage([_listed(task) for task in task_rows], asked.page, total, asked.per_page)

    async def columns(self, row: ProjectPage, wanted: Sequence[str] | None) -> tuple[list[str], list[str]]:
        """The keys of ``info`` that a table of tasks may have as columns, and those that it shows."""
        known = await list_statements.list_info_keys(self._db, row["id"], owns=owns(row))
        shown = _first_columns(row, known) if wanted is None else [key for key in known if key in wanted][:MAX_COLUMNS]
        return known, shown

    async def contents(self, row: ProjectPage, ids: Sequence[int], columns: Sequence[str]) -> dict[int, TaskContent]:
        """What a table shows of tasks, by id. Those who may not see answers get nothing of results."""
        task_contents = (
            await list_statements.list_contents(self._db, row["id"], ids, columns, owns=owns(row)) if ids else []
        )
        if not self.sees_answers(row):
            task_contents = [{**one, "consensus": None, "won": False, "agreement": None} for one in task_contents]
        return {one["id"]: one for one in task_contents}

    async def first_values(self, row: ProjectPage, columns: Sequence[str], maximum: int) -> list[list[str | None]]:
        """For each column its values in the first tasks; of a long one the beginning."""
        ids = await list_statements.list_first_tasks(self._db, row["id"], maximum)
        cells = {one["id"]: one["cells"] for one in (await self.contents(row, ids, columns)).values()}
        return [[cells[task_id][nth] for task_id in ids if task_id in cells] for nth in range(len(columns))]

    def sees_answers(self, row: ProjectPage) -> bool:
        """Whether who has this row of ``Projects.page`` may see answers: as in lists of results."""
        return bool(row["roles"] & RESULT.rights.see)

    async def _holding(self, row: ProjectPage, asked: Asked, total: int) -> TaskListPage:
        """As far as a page may cost: what is found in so many tasks, and where to go on."""
        place = PageStart(asked.state, descending=asked.descending, after=asked.after)
        task_rows = await list_statements.list_tasks_with_words(
            self._db, row["id"], place, asked.filter.words, asked.per_page, MAX_WALKED, owns=owns(row)
        )
        full = len(task_rows) == asked.per_page
        to = (
            task_rows[-1]["id"]
            if full
            else await list_statements.find_last_of_next(self._db, row["id"], place, MAX_WALKED)
        )
        tasks = [_listed(task) for task in task_rows]
        return TaskListPage(tasks, asked.page, total, asked.per_page, by_words=True, searched_to=to)

    async def has(self, row: ProjectPage, task_id: int) -> bool:
        """Whether a task is one of the project."""
        return task_id <= _MAX_ID and await list_statements.has_task(self._db, row["id"], task_id)

    async def task(self, who: Requester, row: ProjectPage, task_id: int, after: int = 0) -> TaskAnswers:
        """A task as its kind shows it (``task``), its answers behind one (``task_runs``), and their ``agreement``.

        Owners see of each answer whose it is (``volunteers``, by id of the answer). Raises NotFoundError.
        """
        self.require(who, row)
        if not await self.has(row, task_id):
            raise NotFoundError(NOT_FOUND)
        task = await self._records.get(TASK, who, task_id)
        shown = bool(row["roles"] & TASK_RUN.rights.see)  # answers of a draft are trials: they are its owners'
        shown = shown and (task["state"] == "completed" or not complete_only(row))
        listed_runs = await list_statements.list_runs(self._db, row["id"], task_id, after, MAX_RUNS) if shown else []
        votes = await list_statements.count_votes(self._db, row["id"], task_id, _SHOWN_VOTES) if shown else []
        comparison = await list_statements.find_consensus(self._db, row["id"], task_id) if shown else None
        fields = declared(row["info"])
        views = [self._records.view(TASK_RUN, {**run, "roles": row["roles"]}) for run in listed_runs]
        return {
            "task": task,
            "task_runs": views,
            "agreement": agreement(votes, comparison, opinion=any(field.opinion for field in fields[:1])),
            "fields": by_field(fields, comparison) if comparison else [],
            "posterior": await list_statements.find_posterior(self._db, row["id"], task_id) if votes else None,
            "volunteers": {run["id"]: volunteer(run) for run in listed_runs} if row["roles"] & OWNERS else {},
            "counted": {run["id"]: run["counted"] for run in listed_runs},
            "repeated": [run["id"] for run in listed_runs if run["aside"] == 0] if row["roles"] & OWNERS else [],
            "aside": _aside(listed_runs) if row["roles"] & OWNERS else {},
            "next": listed_runs[-1]["id"] if len(listed_runs) == MAX_RUNS or _is_cut(listed_runs) else None,
        }


def _aside(runs: Sequence[ListedRun]) -> dict[int, Aside]:
    """The answers that an owner set aside, by id."""
    return {
        run["id"]: Aside(reason=run["aside_reason"], at=run["aside_at"], by=run["aside_by"])
        for run in runs
        if run["aside"]
    }


def _first_columns(row: ProjectPage, known: Sequence[str]) -> list[str]:
    """The columns that a table begins with: those whose roles tell one task from another, then the first ones.

    Of files that were uploaded that is also the name.
    """
    roles = {_FILE_NAME: "identifier", **column_roles.of(row["info"])}
    telling = sorted((key for key in known if roles.get(key) in _TELLING), key=lambda key: _TELLING.index(roles[key]))
    first = dict.fromkeys([*telling, *known])
    return [key for key in known if key in [*first][:_FIRST_COLUMNS]]


def owns(row: ProjectPage) -> bool:
    """Whether the requester of this row is an owner of the project."""
    return bool(row["roles"] & OWNERS)


def _is_cut(runs: list[ListedRun]) -> bool:
    """Whether answers were left out because they are large."""
    return bool(runs) and len(runs) < runs[0]["n_rows"]


def total_of(row: ProjectPage, state: str | None) -> int:
    """How many tasks of a project have a state, without counting them."""
    tasks, completed = int(row["n_tasks"]), int(row["n_completed_tasks"])
    return {None: tasks, "completed": completed, "ongoing": tasks - completed}[state]


def place_of(asked: Asked, total: int, had: int) -> PageStart:
    """Where the page begins. ``had``: how many tasks the project has ever had; needed for pages far inside.

    The number of such a page is exact as long as no task was deleted and no state chosen; else it begins where it would
    if what is missing were spread evenly. Raises NotFoundError for one that is too far in an order without ordinals.
    """
    here = PageStart(asked.state, asked.order, asked.descending)
    if asked.before is not None or asked.after is not None:
        return attrs.evolve(here, after=None if asked.before is not None else asked.after, before=asked.before)
    passed = (asked.page - 1) * asked.per_page
    if passed <= MAX_PASSED:
        return attrs.evolve(here, offset=passed)
    if asked.order != "id":
        raise NotFoundError(NOT_FOUND, hint="Continue from the previous page, or choose a state.")
    before = passed * had // total
    return attrs.evolve(here, ordinal=had - before if asked.descending else before + 1)


def agreement(votes: list[Vote], comparison: Said | None, *, opinion: bool = False) -> Values | None:
    """How far the answers that count agree; None without any.

    ``key`` is the key of the answers that is compared, None where it is all of them. ``agreement`` is that of all
    pairs of them, 0 to 1, None without pairs. ``share`` is that of the most frequent value, ``leading`` this value;
    ``kinds`` how many different ones there are, ``votes`` the most frequent of them with their number. Of an
    ``opinion`` no value leads.
    """
    if not votes or not comparison:
        return None
    shown = [{"value": vote["value"], "n": vote["n"]} for vote in votes]
    share, leading = votes[0]["n"] / sum(votes[0]["counts"]), votes[0]["value"]
    about = {"share": None, "leading": None} if opinion else {"share": share, "leading": leading}
    of_pairs = comparison["agreement"] if (comparison["n_compared"] or 0) > 1 else None
    return {"key": votes[0]["key"], "agreement": of_pairs, **about, "kinds": len(votes[0]["counts"]), "votes": shown}


def volunteer(run: ListedRun) -> Values:
    """Who gave an answer, for those who run the project: the account's name, or what sort of volunteer it was."""
    if run["user_id"] is not None:
        shown = run["name"] if run["privacy_mode"] or not run["fullname"] else run["fullname"]
        return {"sort": "account", "name": run["name"], "shown": shown}
    if run["external_uid"] is not None:
        return {"sort": "external", "name": None, "shown": run["external_uid"]}
    return {"sort": "anonymous", "name": None, "shown": None}


def _listed(task: ListedTask) -> Values:
    """A task in a list (PyBossa's keys first). ``pct_status``: how much of what it wants is there, 0 to 1."""
    share = 1.0 if task["state"] == "completed" else min(1.0, task["answers"] / task["n_answers"])
    return {
        "id": task["id"],
        "n_answers": task["n_answers"],
        "n_task_runs": task["n_task_runs"],
        "pct_status": round(share, 4),
        "priority_0": task["priority_0"],
        "state": task["state"],
        "retired": task["retired"],
        "info_text": task["info_text"],
    }


MAX_NAMED = 100_000  # tasks that one request may name
MAX_SEARCHED = 200_000  # tasks of a project in which words choose tasks, which no index can do


@attrs.frozen
class Chunk:
    """Tasks of one step: their ids, the last task that was come to, and how many were looked at."""

    ids: Sequence[int]
    last: int
    walked: int


async def read_chunk(db: Database, project_id: int, chosen: Chosen, after: int, maximum: int) -> Chunk | None:
    """The next tasks behind one, None at the end. ``ids`` may be empty where none of those looked at match."""
    if isinstance(chosen, TaskFilter):
        batch = await list_statements.list_matching_tasks(db, project_id, chosen, after, maximum, MAX_WALKED)
        return None if batch.last is None else Chunk(batch.ids, batch.last, batch.walked)
    if chosen is None:
        ids: Sequence[int] = await change_statements.list_next_tasks(db, project_id, after, maximum)
    else:
        ids = [task_id for task_id in chosen if task_id > after][:maximum]
    return Chunk(ids, ids[-1], len(ids)) if ids else None


async def list_few_tasks(db: Database, project_id: int, chosen: Chosen, maximum: int) -> Sequence[int] | None:
    """All the tasks; None if they are more than ``maximum``, or if it takes long to find them."""
    first = await read_chunk(db, project_id, chosen, 0, maximum + 1)
    if first is None:
        return []
    too_many = len(first.ids) > maximum
    return None if too_many or (isinstance(chosen, TaskFilter) and first.walked >= MAX_WALKED) else first.ids


async def require_searchable(db: Database, project_id: int, chosen: Chosen) -> None:
    """Raises InvalidValueError for words in a project with more than MAX_SEARCHED tasks."""
    if not isinstance(chosen, TaskFilter) or not chosen.words:
        return
    if await change_statements.count_tasks_ever(db, project_id) > MAX_SEARCHED:
        maximum = f"{MAX_SEARCHED:,}"
        raise InvalidValueError(
            _("Words can select tasks only in projects of up to %(maximum)s tasks.", maximum=maximum)
        )


async def list_named_tasks(db: Database, project_id: int, matching: TaskFilter) -> list[int] | None:
    """The tasks that match, by id; None for all. Raises InvalidValueError for more than MAX_NAMED."""
    if matching.is_all:
        return None
    await require_searchable(db, project_id, matching)
    ids = await list_statements.list_first_matching(db, project_id, matching, MAX_NAMED + 1)
    if len(ids) > MAX_NAMED:
        maximum = f"{MAX_NAMED:,}"
        raise InvalidValueError(
            _("At most %(maximum)s tasks can be selected. Export all tasks instead.", maximum=maximum)
        )
    return ids


def parse_chosen(arguments: Values) -> Chosen:
    """The tasks of a background task: those that are named or match, or all (None)."""
    matching = arguments.get("matching")
    named: list[int] | None = arguments["task_ids"]
    return named if matching is None else TaskFilter(**matching)
