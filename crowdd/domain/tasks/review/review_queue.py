"""The review of completed tasks: the queue, a task with all its answers, and the decision."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, TypedDict

import attrs
import orjson

from crowdd.domain.core import rights
from crowdd.domain.core.records import Records
from crowdd.domain.tasks.gold.gold_tasks import Gold
from crowdd.errors import NOT_FOUND, InvalidValueError, NotFoundError, PreconditionError
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import OWNERS, REVIEWERS
from crowdd.kinds.task import TASK
from crowdd.languages import _
from crowdd.requester import Requester
from crowdd.storage.core import audit
from crowdd.storage.database import Database, Transactions
from crowdd.storage.projects.rows import ProjectPage
from crowdd.storage.tasks.review import decisions, queue
from crowdd.storage.tasks.review.queue import DECIDED, QUEUE, Wanted
from crowdd.storage.tasks.review.rows import Decided, ReviewCase, ReviewCounts, ReviewedRun, ReviewedTask, ReviewOpinion
from crowdd.values import Values

PER_PAGE: Final = 25
SPECIAL: Final = ("opinions", "commented", "doubted", "disputed")
"""Filters beside reasons: a second opinion is wanted, volunteers have commented, tasks are no longer sure, the
last analyses by both offered methods say something else."""
FILTERS: Final = (*QUEUE, *DECIDED, *SPECIAL)
_MAX_ID: Final = 2**63 - 1


class ReviewedAnswer(TypedDict):
    """An answer for review. ``class_`` counts from 1, None if it does not fit.

    ``weight`` is how much it spoke for its class against the others when the task was completed, as ln of the odds;
    None if it does not count. ``accuracy`` of its volunteer is for owners only.
    """

    id: int
    class_: int | None
    info: object
    counted: bool
    unreliable: bool
    volunteer: str | None
    weight: float | None
    accuracy: float | None


class ReviewedCase(TypedDict):
    """A task for review: its last result, the answers, what others think, and whether the requester decides alone."""

    task: Values
    result: ReviewCase
    answers: list[ReviewedAnswer]
    opinions: list[ReviewOpinion]
    differ: bool


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
        wanted = Wanted(_reasons(which), which if which in SPECIAL else "", class_, after, who.acting_user)
        owns = bool(row["roles"] & OWNERS)
        tasks = await queue.page(self._db, row["id"], wanted, PER_PAGE + 1, owns=owns)
        return QueuePage(tasks[:PER_PAGE], tasks[PER_PAGE - 1]["result_id"] if len(tasks) > PER_PAGE else None)

    async def next(
        self, who: Requester, row: ProjectPage, which: str, class_: int | None, after: int | None
    ) -> ReviewedTask | None:
        """The task behind a result in the same order."""
        self.require(who, row)
        wanted = Wanted(_reasons(which), which if which in SPECIAL else "", class_, after, who.acting_user)
        tasks = await queue.page(self._db, row["id"], wanted, 1, owns=bool(row["roles"] & OWNERS))
        return tasks[0] if tasks else None

    async def doubted(self, who: Requester, row: ProjectPage) -> list[int]:
        """All tasks that stopped early and are no longer sure."""
        self.require(who, row)
        wanted = Wanted(special="doubted", me=who.acting_user)
        tasks = await queue.page(self._db, row["id"], wanted, queue.MAX_DOUBTED, owns=False)
        return [one["task_id"] for one in tasks]

    async def counts(self, row: ProjectPage) -> ReviewCounts:
        """How many tasks wait."""
        return await queue.counts(self._db, row["id"])

    async def choices(self, row: ProjectPage) -> list[object]:
        """The classes of the project in their order; [] where the first answer field is no label."""
        return [*await decisions.choices(self._db, row["id"])]

    async def case(self, who: Requester, row: ProjectPage, task_id: int) -> ReviewedCase:
        """A completed task with all its answers. Raises NotFoundError."""
        self.require(who, row)
        result = await decisions.case(self._db, row["id"], min(task_id, _MAX_ID))
        if result is None:
            raise NotFoundError(NOT_FOUND, hint=_("Only completed tasks of a label can be reviewed."))
        runs = await decisions.runs(self._db, row["id"], task_id)
        opinions = await decisions.opinions(self._db, row["id"], task_id)
        return {
            "task": await self._records.get(TASK, who, task_id),
            "result": result,
            "answers": _answers(result, runs, owns=bool(row["roles"] & OWNERS)),
            "opinions": opinions,
            "differ": len({one["class_"] for one in opinions if one["class_"] is not None}) > 1,
        }

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
        choices = await decisions.choices(self._db, project_id)
        class_ = class_of(choices, answer)

        async def work(tx: Database) -> Decided:
            if second:
                done = await decisions.ask(tx, project_id, row["task_id"], result_id, _person(who), class_)
            elif class_ is None:
                raise InvalidValueError(_("Choose an answer."), code="missing_attribute")
            else:
                done = await decisions.decide(
                    tx, project_id, row["task_id"], result_id, _person(who), class_, owns=owns
                )
            if done.state in ("decided", "waiting", "differ", "asked"):
                after = {"state": done.state, "class": class_, "result": done.result}
                await audit.write(
                    tx, who, "decide_task", "task", row["task_id"], project_id=project_id, before=None, after=after
                )
            return done

        done = await self._db.transaction(work)
        await self._refuse(project_id, row["task_id"], choices, done)
        self._notify(project_id)
        gold = gold and done.state in ("decided", "same")
        if gold:  # afterwards, because it locks the project before the task
            await self._gold.make(who, project_id, {"task_id": row["task_id"], "answer": answer})
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
        result = await decisions.case(self._db, project_id, task_id)
        chosen = choices[result["class_"] - 1] if result and result["class_"] else None
        name = (result and result["decided_name"]) or _("Somebody else")
        words = _(
            "%(name)s has decided this task before you: %(answer)s. Nothing was changed.",
            name=name,
            answer=chosen if isinstance(chosen, str) else orjson.dumps(chosen).decode(),
        )
        raise PreconditionError(words, code="decided_before")


def _person(who: Requester) -> int:
    """The account that decides. Raises AnonymousError for a key of the server without one."""
    if who.acting_user is None:
        rights.require(who, frozenset(), REVIEWERS)
    assert who.acting_user is not None
    return who.acting_user


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
