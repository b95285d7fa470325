"""The review of completed tasks: the queue, a task with all its answers, and the decision."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, TypedDict

import attrs
import orjson

from crowdd.core import log_statements
from crowdd.core.records import rights
from crowdd.core.records.records import Records
from crowdd.database.access import Database, Transactions
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.tasks import list_statements
from crowdd.features.trust import review_statements
from crowdd.features.trust.gold import Gold, GoldBody
from crowdd.features.trust.review_statements import DECIDED, QUEUE, Wanted
from crowdd.features.trust.rows import (
    Decided,
    ReviewCase,
    ReviewCounts,
    ReviewedRun,
    ReviewedTask,
    ReviewOpinion,
)
from crowdd.features.trust.whole_answers import has_label, is_decidable, prefilled, require_person
from crowdd.kernel.errors import NOT_FOUND, InvalidValueError, NotFoundError, PreconditionError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Json, Values
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import OWNERS, REVIEWERS
from crowdd.kinds.task import TASK

PER_PAGE: Final = 25
SPECIAL: Final = ("opinions", "commented", "doubted", "disputed", "ruled")
"""Filters beside reasons: a second opinion is wanted, volunteers have commented, tasks are no longer sure, the
last analyses by both offered methods say something else, rules of the owner chose them."""
FILTERS: Final = (*QUEUE, *DECIDED, *SPECIAL)
_MAX_ID: Final = 2**63 - 1


class ReviewedAnswer(TypedDict):
    """An answer for review. ``class_`` counts from 1, None if it does not fit.

    ``weight`` is how much it spoke for its class against the others when the task was completed, as ln of the odds;
    None if it does not count. ``accuracy`` of its volunteer is for owners only.
    """

    id: int
    class_: int | None
    info: Json
    counted: bool
    unreliable: bool
    volunteer: str | None
    weight: float | None
    accuracy: float | None


class ReviewedCase(TypedDict):
    """A task for review: its last result, the answers, what others think, and whether the requester decides alone.

    ``beginning``: the answer with which a decision about all questions begins; None where there are none to answer.
    """

    task: Values
    result: ReviewCase
    answers: list[ReviewedAnswer]
    opinions: list[ReviewOpinion]
    differ: bool
    beginning: Values | None


@attrs.frozen
class QueuePage:
    """A page of the queue; ``next``: behind which result the next one begins."""

    tasks: list[ReviewedTask]
    next: int | None


class ReviewQueue:
    """For owners and reviewers. ``row`` is a project's row as ``Projects.page`` gives it."""

    def __init__(self, db: Transactions, records: Records, notify: Callable[[int], None], gold: Gold) -> None:
        self._db, self._records, self._notify, self._gold = db, records, notify, gold

    def require(self, who: Requester, row: ProjectPage) -> None:
        """Raises AnonymousError or ForbiddenError."""
        rights.require(who, row["roles"], REVIEWERS)

    async def page(
        self, who: Requester, row: ProjectPage, which: str = "", class_: int | None = None, after: int | None = None
    ) -> QueuePage:
        """Tasks that wait, or those that ``which`` of FILTERS names. ``class_``: see Wanted."""
        self.require(who, row)
        wanted = _wanted(who, row, which, class_, after)
        owns = bool(row["roles"] & OWNERS)
        tasks = await review_statements.list_queue(self._db, row["id"], wanted, PER_PAGE + 1, owns=owns)
        return QueuePage(tasks[:PER_PAGE], tasks[PER_PAGE - 1]["result_id"] if len(tasks) > PER_PAGE else None)

    async def next(
        self, who: Requester, row: ProjectPage, which: str, class_: int | None, after: int | None
    ) -> ReviewedTask | None:
        """The task behind a result in the same order."""
        self.require(who, row)
        wanted = _wanted(who, row, which, class_, after)
        tasks = await review_statements.list_queue(self._db, row["id"], wanted, 1, owns=bool(row["roles"] & OWNERS))
        return tasks[0] if tasks else None

    async def doubted(self, who: Requester, row: ProjectPage) -> list[int]:
        """All tasks that stopped early and are no longer sure."""
        self.require(who, row)
        wanted = Wanted(special="doubted", me=who.acting_user)
        tasks = await review_statements.list_queue(
            self._db, row["id"], wanted, review_statements.MAX_DOUBTED, owns=False
        )
        return [one["task_id"] for one in tasks]

    async def counts(self, row: ProjectPage) -> ReviewCounts:
        """How many tasks wait."""
        return await review_statements.count_queue(self._db, row["id"])

    async def choices(self, row: ProjectPage) -> list[object]:
        """The classes of the project in their order; [] where the first answer field is no label."""
        return [*await review_statements.list_choices(self._db, row["id"])]

    async def case(self, who: Requester, row: ProjectPage, task_id: int) -> ReviewedCase:
        """A completed task with all its answers. Raises NotFoundError."""
        self.require(who, row)
        result = await review_statements.find_case(self._db, row["id"], min(task_id, _MAX_ID))
        if result is None or not (result["choices"] or is_decidable(row["info"])):
            raise NotFoundError(NOT_FOUND, hint=_("Only completed tasks with questions or a label can be reviewed."))
        runs = await review_statements.list_runs(self._db, row["id"], task_id)
        opinions = await review_statements.list_opinions(self._db, row["id"], task_id)
        return {
            "task": await self._records.get(TASK, who, task_id),
            "result": result,
            "answers": _answers(result, runs, owns=bool(row["roles"] & OWNERS)),
            "opinions": opinions,
            "differ": len({one["class_"] for one in opinions if one["class_"] is not None}) > 1,
            "beginning": await self._beginning(row, result, runs) if is_decidable(row["info"]) else None,
        }

    async def _beginning(self, row: ProjectPage, result: ReviewCase, runs: Sequence[ReviewedRun]) -> Values:
        if isinstance(result["decided"], dict):
            return result["decided"]
        outcome = await list_statements.find_consensus(self._db, row["id"], result["task_id"])
        answers = [run["info"] for run in runs if run["counted"]]
        return {} if outcome is None else prefilled(row["info"], outcome, answers)

    async def decide(
        self, who: Requester, result_id: int, answer: object, *, second: bool = False, gold: bool = False
    ) -> Values:
        """Decides the task of a result that was its last one when the requester saw it.

        ``answer`` is one of the choices. ``second``: somebody else has to say what they think, too; ``answer`` may then
        be left out (``...``). ``gold``: the task becomes a gold task once it is decided, for owners. Returns the state,
        the last result, and whether it is a gold task now.

        Raises PreconditionError for a task that somebody else has decided meanwhile, InvalidValueError, NotFoundError,
        AnonymousError, ForbiddenError.
        """
        row = await self._records.find(self._db, RESULT, who, min(result_id, _MAX_ID))
        rights.require(who, row["roles"], OWNERS if gold else REVIEWERS)
        owns, project_id = bool(row["roles"] & OWNERS), row["project_id"]
        choices = await review_statements.list_choices(self._db, project_id)
        class_ = class_of(choices, answer)

        async def work(tx: Database) -> Decided:
            if second:
                done = await review_statements.ask_opinion(
                    tx, project_id, row["task_id"], result_id, require_person(who), class_
                )
            elif class_ is None:
                raise InvalidValueError(_("Choose an answer."), code="missing_attribute")
            else:
                done = await review_statements.decide_task(
                    tx, project_id, row["task_id"], result_id, require_person(who), class_, owns=owns
                )
            if done.state in ("decided", "waiting", "differ", "asked"):
                after = {"state": done.state, "class": class_, "result": done.result}
                await log_statements.write_act(
                    tx, who, "decide_task", "task", row["task_id"], project_id=project_id, before=None, after=after
                )
            return done

        done = await self._db.transaction(work)
        await self._refuse(project_id, row["task_id"], choices, done)
        self._notify(project_id)
        gold = gold and done.state in ("decided", "same")
        if gold:  # afterwards, because it locks the project before the task
            await self._gold.make(who, project_id, GoldBody(task_id=row["task_id"], answer=answer))
        return {"state": done.state, "result_id": done.result, "task_id": row["task_id"], "gold": gold}

    async def _refuse(self, project_id: int, task_id: int, choices: Sequence[object], done: Decided) -> None:
        """Raises for a decision that came too late; the words say who was first."""
        if done.state == "changed":
            words = _("The answers to this task have changed meanwhile. Look at them again.")
            raise PreconditionError(words, code="result_changed")
        if done.state == "open":
            raise PreconditionError(_("The task is no longer complete."), code="result_changed")
        if done.state != "before":
            return
        result = await review_statements.find_case(self._db, project_id, task_id)
        chosen = choices[result["class_"] - 1] if result and result["class_"] else None
        name = (result and result["decided_name"]) or _("Somebody else")
        words = _(
            "%(name)s has decided this task before you: %(answer)s. Nothing was changed.",
            name=name,
            answer=chosen if isinstance(chosen, str) else orjson.dumps(chosen).decode(),
        )
        raise PreconditionError(words, code="decided_before")


def _wanted(who: Requester, row: ProjectPage, which: str, class_: int | None, after: int | None) -> Wanted:
    """Without a label, all that wait are in the order of their agreement."""
    special = which if which in SPECIAL else ""
    if not which and is_decidable(row["info"]) and not has_label(row["info"]):
        special = "agreement"
    return Wanted(_reasons(which), special, class_, after, who.acting_user)


def _reasons(which: str) -> tuple[str, ...]:
    """The reasons of the results that a filter chooses. Raises InvalidValueError."""
    if which and which not in FILTERS:
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="which", choices=", ".join(FILTERS)))
    return QUEUE if not which or which in SPECIAL else (which,)


def class_of(choices: Sequence[object], answer: object) -> int | None:
    """The number of a choice from 1; None for no answer at all (``...``). Raises InvalidValueError."""
    if answer is ...:
        return None
    for number, choice in enumerate(choices, 1):
        if choice == answer and type(choice) is type(answer):
            return number
    shown = ", ".join(orjson.dumps(choice).decode() for choice in choices)
    raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="answer", choices=shown))


def _answers(case: ReviewCase, runs: Sequence[ReviewedRun], *, owns: bool) -> list[ReviewedAnswer]:
    """The answers, those that count first. What each added to the posterior is told by the result."""
    labelled = _labelled(case, runs)
    k = max(2, len(case["choices"]))
    weights = dict(zip(labelled, weights_of(case["added"], k, len(labelled)), strict=False))
    return [
        {
            "id": run["id"],
            "class_": run["class_"],
            "info": run["info"],
            "counted": run["counted"],
            "unreliable": run["unreliable"],
            "volunteer": run["volunteer"],
            "weight": weights.get(run["id"]),
            "accuracy": run["accuracy"] if owns else None,
        }
        for run in runs
    ]


def weights_of(added: Sequence[float] | None, k: int, answers: int) -> list[float]:
    """How much each answer speaks for its class, of what a posterior is made of: ln of the odds against other classes.

    The first numbers are the prior of the classes. Then each answer has k, or a single one, which is that.
    """
    log_odds = list(added or [])
    if len(log_odds) == k + k * answers:
        return [_weight(log_odds[at : at + k]) for at in range(k, len(log_odds), k)]
    return log_odds[-answers:] if 0 < answers < len(log_odds) else []


def _weight(added: Sequence[float]) -> float:
    top = max(added)
    others = sum(map(math.exp, added)) - math.exp(top)
    return top - math.log(others / (len(added) - 1))


def _labelled(case: ReviewCase, runs: Sequence[ReviewedRun]) -> list[int]:
    """The ids of the answers that went into the posterior, in the order in which they did."""
    fits = {run["id"] for run in runs if run["class_"] is not None}
    return [run for run in sorted(case["task_run_ids"]) if run in fits]
