"""Results for people: finished tasks with the shares of their answers, summaries, and results that owners fill in.

Owners fill in many results in one request, or from a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

import attrs
import orjson

from crowdd.core.quotas import Quota
from crowdd.core.records import rights
from crowdd.core.records.item_errors import each, refused_item
from crowdd.core.records.records import MAX_ROWS, bounded, may_know
from crowdd.database.access import Database, Transactions
from crowdd.features.projects import list_statements as project_list_statements
from crowdd.features.projects import statements as project_statements
from crowdd.features.projects.rows import Contributors, ProjectPage
from crowdd.features.results import agreement_statements, alpha, outcome_statements, statements, suggestion_statements
from crowdd.features.results.alpha import Alpha
from crowdd.features.results.charts import Charts, charts_of
from crowdd.features.results.consensus import FieldSummary, by_field, summaries_by_field
from crowdd.features.results.outcome_statements import FailedComparisons
from crowdd.features.results.question_results import (
    Cross,
    QuestionResult,
    by_answer_count,
    cross_of,
    crossable,
    question_results,
    shown_fields,
)
from crowdd.features.results.rows import AgreementFigures, FinishedTask, ResultSummary
from crowdd.features.results.statements import ORDERS, Chosen, SameRoles
from crowdd.features.results.suggestion_influence import Influence, influences
from crowdd.kernel import exact_json
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import NOT_FOUND, InvalidValueError, NotFoundError, TooLargeError, at_item
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import JsonObject, Values
from crowdd.kinds import column_roles
from crowdd.kinds.answer_files import files_of
from crowdd.kinds.answers import AnswerField, declared
from crowdd.kinds.answers.words import words_of
from crowdd.kinds.kind import LINKS
from crowdd.kinds.questions import QUESTIONS
from crowdd.kinds.questions.form_types import questions_for_files
from crowdd.kinds.questions.suggested import suggesting
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import OWNERS, Role
from crowdd.kinds.types import missing, require_object

PER_PAGE = 20
OUTCOMES = 10  # most frequent answers that are shown with their number
NO_WINNER = "none"
"""The filter for results in which several answers are the most frequent."""
_VOTES = 5
_LEADERS = 5
_LOOKED_AT = 12  # newest results among which agreed ones are looked for
_MAX_ANSWER = 4000  # characters of the filter


@attrs.frozen
class Finished:
    """A page of finished tasks; ``next``: behind which result the next page begins."""

    tasks: list[Values]
    next: int | None


@attrs.frozen
class Together:
    """All finished tasks together: by the first field, and by each declared field, with Krippendorff's ``alpha``."""

    summary: ResultSummary
    fields: list[FieldSummary]
    alpha: list[Alpha]


_ANSWERS_SHOWN: Final = 24  # with files


@attrs.frozen
class Asked:
    """Each question with its picture. ``cross``: two of them crossed, of those that ``crossable`` names with texts.

    ``n`` answers to ``tasks`` tasks were looked at; ``part``: there are more. ``decided``: tasks that experts decided.
    ``files``: of each question for files.
    """

    questions: list[QuestionResult]
    crossable: list[tuple[str, str]]
    cross: Cross | None
    n: int
    tasks: int
    part: bool
    decided: int = 0
    files: Sequence[SentFiles] = ()


@attrs.frozen
class SentFiles:
    """The newest files that volunteers sent at a question, for owners."""

    text: str
    files: list[JsonObject]


class FinishedTasks:
    """Finished tasks of projects."""

    def __init__(self, db: Database, worker_thread: WorkerThread) -> None:
        self._db, self._worker_thread = db, worker_thread

    def may_see(self, row: ProjectPage) -> bool:
        """Whether who has this row of ``Projects.page`` may see answers: as in lists of results."""
        return bool(row["roles"] & RESULT.rights.see)

    async def page(self, row: ProjectPage, chosen: Chosen) -> Finished:
        """Those that are chosen; to be asked for those who may see them."""
        task_rows = await statements.list_finished_tasks(
            self._db, row["id"], chosen, PER_PAGE + 1, _VOTES, owns=_owns(row)
        )
        more = len(task_rows) > PER_PAGE
        fields = declared(row["info"])
        return Finished(
            [_task(one, fields) for one in task_rows[:PER_PAGE]], task_rows[PER_PAGE - 1]["id"] if more else None
        )

    async def agreed(self, row: ProjectPage, maximum: int) -> list[Values]:
        """The newest of the last results in which several answers have a most frequent one; at most ``maximum``.

        To be asked for those who may see answers. ``n`` of ``total`` answers are the most frequent one. Left out are
        those in which weights gave the consensus to another one.
        """
        task_rows = await statements.list_finished_tasks(self._db, row["id"], Chosen(), _LOOKED_AT, 1, owns=_owns(row))
        agreed = [_task(one, []) for one in task_rows if one["won"] and one["total"] > 1 and _is_agreed(one)]
        return [{**one, **one["votes"][0]} for one in agreed[:maximum]]

    async def summary(self, row: ProjectPage, maximum: int) -> ResultSummary:
        """All of them by the first field, with so many outcomes; to be asked for those who may see them."""
        (summary,) = await statements.list_summaries(self._db, row["id"], maximum, 1)
        return summary

    async def together(self, row: ProjectPage) -> Together:
        """All of them; to be asked for those who may see them."""
        fields = declared(row["info"])
        result_summaries = await statements.list_summaries(self._db, row["id"], OUTCOMES, len(fields) or 1)
        alphas = await self._alpha(row, fields)
        summaries = summaries_by_field(fields, result_summaries)
        first: ResultSummary = (
            {**result_summaries[0], "tied": summaries[0]["tied"]} if summaries else result_summaries[0]
        )
        return Together(first, summaries, alphas)

    async def asked(self, row: ProjectPage, language: str, crossed: tuple[str, str]) -> Asked:
        """What all answers say at each question, with two questions crossed; to be asked for those who may see answers.

        ``crossed``: the names of two answer fields; of others the two that most people answered are taken.
        """
        info, fields = row["info"], declared(row["info"])
        shown, files = shown_fields(info, fields), await self._files(row, language)
        if not shown:
            return Asked(questions=[], crossable=[], cross=None, n=0, tasks=0, part=False, files=files)
        ordinals = await project_statements.count_ordinals(self._db, row["id"])
        opinions = any(field.opinion for field in shown)
        facts = not all(field.opinion for field in shown)
        answers = await statements.sample_answers(self._db, row["id"], ordinals, owns=_owns(row)) if opinions else []
        results = await statements.sample_results(self._db, row["id"], ordinals) if facts else []
        words = words_of(info, language)
        questions = await self._worker_thread.do_soon(question_results, info, shown, words, answers, results)
        choices = {field.name: field for field in crossable(shown)}
        one, other = (choices.get(name) for name in crossed)
        if one is None or other is None or one is other:
            usual = await self._worker_thread.do_soon(by_answer_count, [*choices.values()], answers)
            one, other = [*usual, None, None][:2]
        cross = None
        if one is not None and other is not None and answers:
            cross = await self._worker_thread.do_soon(cross_of, one, other, words, answers)
        return Asked(
            questions=questions,
            crossable=[(name, words[name].text if name in words else name) for name in choices],
            cross=cross,
            n=len(answers),
            tasks=len(results) or len({answer["task_id"] for answer in answers}),
            part=ordinals > statements.MAX_TASKS or len(answers) == statements.MAX_ANSWERS,
            decided=await statements.count_decided(self._db, row["id"]) if facts else 0,
            files=files,
        )

    async def _files(self, row: ProjectPage, language: str) -> list[SentFiles]:
        info: Values = row["info"]
        names = questions_for_files(info.get(QUESTIONS))
        if not names or not _owns(row):
            return []
        answers = await statements.newest_with_files(self._db, row["id"], _ANSWERS_SHOWN)
        infos = [answer["info"] for answer in answers if isinstance(answer["info"], dict)]
        words = words_of(info, language)
        sent = {name: [file for each in infos for file in files_of(each.get(name))] for name in names}
        return [SentFiles(words[name].text, files) for name, files in sent.items() if files]

    async def alpha(self, row: ProjectPage) -> list[Alpha]:
        """Krippendorff's alpha of each declared field; to be asked for those who may see answers."""
        return await self._alpha(row, declared(row["info"]))

    async def _alpha(self, row: ProjectPage, fields: list[AnswerField]) -> list[Alpha]:
        """Of each field that is no opinion."""
        measured = await alpha.of_project(self._db, row["id"], fields) if fields else []
        return [one for one, field in zip(measured, fields, strict=True) if not field.opinion]

    async def agreement(self, row: ProjectPage) -> AgreementFigures | None:
        """How far volunteers agree, by the newest analysis of that; pairs and tasks for owners only."""
        figures = await agreement_statements.find_newest_figures(self._db, row["id"])
        return figures if figures is None or _owns(row) else {**figures, "pairs": [], "difficult": []}

    async def influences(self, row: ProjectPage) -> list[Influence]:
        """What suggestions do to answers; of projects that have some, and for owners only."""
        questions = suggesting(row["info"].get(QUESTIONS)) if _owns(row) else []
        if not questions:
            return []
        asked = [{"name": question["name"], "of": question["suggest"]} for question in questions]
        counted = await suggestion_statements.count_outcomes(self._db, row["id"], asked)
        answers = await suggestion_statements.list_suggested_answers(self._db, row["id"], asked) if counted else []
        return await self._worker_thread.do_soon(influences, questions, counted, answers)

    async def failed(self, row: ProjectPage) -> FailedComparisons | None:
        """What of the answers could not be compared so far; None: everything could, or the requester is no owner."""
        if not _owns(row):
            return None
        failed = await outcome_statements.count_failed(self._db, row["id"])
        return failed if failed["results"] or failed["fields"] or failed["gold"] else None

    async def compare_again(self, row: ProjectPage, who: Requester) -> int:
        """Has all that could not be compared tried again now; how much it is. For owners."""
        rights.require(who, row["roles"], OWNERS)
        return await outcome_statements.retry_failed(self._db, row["id"])

    async def contributors(self, row: ProjectPage, who: Requester) -> Contributors:
        """Who gave the most answers, and how many are the requester's."""
        return await project_list_statements.read_contributors(self._db, row["id"], who.actor, _LEADERS)

    async def charts(self, row: ProjectPage, finished: Finished) -> Charts | None:
        """All of them by place and date, if the tasks of this page have any; to be asked for those who may see them."""
        return await charts_of(self._db, row["id"], finished.tasks, column_roles.of(row["info"]), owns=_owns(row))


def _is_agreed(task: FinishedTask) -> bool:
    """Whether several gave the most frequent answer, and it is the consensus as far as that is kept."""
    first = task["votes"][0]
    return first["n"] > 1 and (not task["short"] or task["consensus"] == first["answer"])


def _owns(row: ProjectPage) -> bool:
    return bool(row["roles"] & OWNERS)


def read_choice(
    *,
    answer: str = "",
    min_agreement: int | None = None,
    max_agreement: int | None = None,
    order: str = "",
    before: int | None = None,
) -> Chosen:
    """What words of an address choose. Agreements are percentages, cut at the point: 33 chooses a third, too.

    ``answer`` is JSON, a text without quotes, or NO_WINNER. Raises InvalidValueError.
    """
    order = order or "newest"
    if order not in ORDERS:
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="orderby", choices=", ".join(ORDERS)))
    minimum = None if min_agreement is None else min_agreement / 100
    below = None if max_agreement is None or max_agreement >= 100 else (max_agreement + 1) / 100
    return Chosen(_json(answer), minimum, below, order, before)


def _json(answer: str) -> str | None:
    """The answer as JSON text; None for every answer, "" for none of them."""
    if not answer or answer == NO_WINNER:
        return "" if answer else None
    if len(answer) > _MAX_ANSWER:
        raise InvalidValueError(_("The answer may have at most %(maximum)s characters.", maximum=_MAX_ANSWER))
    try:
        value = exact_json.loads(answer)
    except orjson.JSONDecodeError:
        value = answer
    return orjson.dumps(value).decode()


def _task(row: FinishedTask, fields: list[AnswerField]) -> Values:
    """``share`` of an answer: 0 to 1 of those that count; ``others``: different answers that are not shown.

    ``fields``: what the answers say at each declared field.
    """
    votes = [{**vote, "share": vote["n"] / row["total"]} for vote in row["votes"]]
    return {
        "task_id": row["task_id"],
        "info": row["info"],
        "task_info": row["task_info"],
        "consensus": row["consensus"],
        "won": row["won"],
        "agreement": row["agreement"],
        "confidence": row["confidence"],
        "model": row["model"],
        "reason": row["reason"],
        "fields": by_field(fields, row),
        "total": row["total"],
        "votes": votes,
        "others": row["kinds"] - len(votes),
    }


MAX_ANSWERS = 1_000_000  # that the results of one request may name together: their ids are part of what is answered
_CHUNK = 200  # rows that are compared at a time
_WRITTEN = frozenset({"id", "info"}) | LINKS


@attrs.frozen
class Filled:
    """An element of an array as it goes into the database; ``more`` are further attributes, which must be unchanged."""

    id: int
    text: bytes  # {"id": …, "info": …}
    more: Mapping[str, object]


class Results:
    """Changes results in bulk: all of an array or nothing."""

    def __init__(
        self, db: Transactions, notify: Callable[[int], None], quota: Quota, worker_thread: WorkerThread, base_url: str
    ) -> None:
        self._db, self._notify, self._quota = db, notify, quota
        self._worker_thread, self._base_url = worker_thread, base_url

    async def require_changer(self, who: Requester, ids: Sequence[int]) -> None:
        """Passes for those who may change one of these results at least, for bodies that take long to parse."""
        role_groups = await statements.group_by_role(self._db, who, ids)
        if not any(group.roles & RESULT.rights.update for group in role_groups):
            first = ids[0] if ids else 0
            _refuse(who, first, next((group.roles for group in role_groups if first in group.ids), frozenset()))

    async def fill(self, who: Requester, body: object) -> list[orjson.Fragment]:
        """The results of an array of ``{"id", "info"}`` once their ``info`` is this, in the order of the array.

        A number of statements that does not depend on the array's length. Raises what a change of one result raises,
        with the index of the element.
        """
        if not isinstance(body, list):
            raise InvalidValueError("The body is not an array of results.")
        ids = _ids(bounded(body, MAX_ROWS))
        _require(
            who, ids, await statements.group_by_role(self._db, who, ids)
        )  # first: strangers lock nothing and cost little
        items = await self._worker_thread.do_soon(_parsed, body, ids)

        async def work(tx: Database) -> tuple[list[str], list[SameRoles]]:
            await statements.lock_results(tx, ids)
            role_groups = await statements.group_by_role(tx, who, ids)
            _require(who, ids, role_groups)
            await _require_unchanged(tx, items)
            await refused_item(tx, items, True, partial(_write, tx))
            await self._quota.require(tx, who)
            return await statements.list_views(tx, ids, self._base_url), role_groups

        views, role_groups = await self._db.transaction(work)
        for project_id in frozenset().union(*(group.projects for group in role_groups)):
            self._notify(project_id)
        return [orjson.Fragment(view) for view in views]


async def fill_exported(tx: Database, project_id: int, rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Fills the results of a project from an export: source, task, result, last and info each (``exported_files``).

    Says of each row what became of it: added, updated where other ``info`` stood there, present, "no task", "open" or
    "earlier". The caller has the right to it.
    """
    matches = await statements.match_results(tx, project_id, rows)
    await statements.lock_results(tx, [row["result_id"] for row in matches if row["result_id"] is not None])
    matches = await statements.match_results(tx, project_id, rows)
    filled = [
        _filled(match["result_id"], {"info": row["info"]})
        for match, row in zip(matches, rows, strict=True)
        if match["result_id"] is not None and match["fate"] in ("added", "updated")
    ]
    await _write(tx, filled)
    return [match["fate"] for match in matches]


def _ids(bodies: Iterable[object]) -> list[int]:
    """The id of each element; no result may be named twice."""
    first: dict[int, int] = {}

    def named(one: object) -> int:
        element = require_object(one)
        if "id" not in element:
            raise missing("id")
        row_id: int = RESULT.field("id").parse(element["id"])
        if row_id in first:
            raise InvalidValueError(f"Result {row_id} appears twice, first as item {first[row_id]}.")
        first[row_id] = len(first)
        return row_id

    return each(bodies, True, named)


def _require(who: Requester, ids: Sequence[int], groups: Sequence[SameRoles]) -> None:
    """Raises for the first result that is not there or that the requester may not change, and for too many answers."""
    roles = {group.ids: group.roles for group in groups}
    good = frozenset().union(*(ids_ for ids_, have in roles.items() if have & RESULT.rights.update))
    for number, row_id in enumerate(ids):
        if row_id not in good:
            with at_item(number):
                _refuse(who, row_id, next((have for ids_, have in roles.items() if row_id in ids_), frozenset()))
    answers = sum(group.answers for group in groups)
    if answers > MAX_ANSWERS:
        words = f"The results of a request may name {MAX_ANSWERS:,} answers together (these name {answers:,})."
        raise TooLargeError(words, code="too_many_rows", hint="Send them in several requests.")


def _refuse(who: Requester, row_id: int, have: frozenset[Role]) -> None:
    if not may_know(RESULT, have):
        raise NotFoundError(NOT_FOUND, hint=f"Result {row_id} does not exist.")
    rights.require(who, have, RESULT.rights.update)


def _parsed(bodies: Sequence[Values], ids: Sequence[int]) -> list[Filled]:
    """The elements as they go into the database; may be called in a thread."""
    numbers = iter(ids)
    return each(bodies, True, lambda one: _filled(next(numbers), one))


def _filled(row_id: int, one: Mapping[str, object]) -> Filled:
    more = {name: value for name, value in one.items() if name not in _WRITTEN}
    for name in more:
        RESULT.field(name)
    if "info" not in one:
        raise missing("info")
    info = RESULT.field("info").parse(one["info"])
    return Filled(row_id, orjson.dumps({"id": row_id, "info": info}), more)


async def _require_unchanged(tx: Database, items: Sequence[Filled]) -> None:
    """Raises ReservedFieldError for an element that says something else of what only the server sets."""
    named = [(number, item) for number, item in enumerate(items) if item.more]
    for begin in range(0, len(named), _CHUNK):
        chunk = named[begin : begin + _CHUNK]
        stored = {
            row["id"]: row for row in await statements.list_results_without_info(tx, [item.id for _, item in chunk])
        }
        for number, item in chunk:
            with at_item(number):
                RESULT.change(stored[item.id], item.more, RESULT.rights.update)


async def _write(tx: Database, items: Sequence[Filled]) -> int:
    return await statements.fill_results(tx, (b"[" + b",".join(item.text for item in items) + b"]").decode())
