"""Changes of many tasks while people work: small ones at once, large ones as work of the queue, each with a preview."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final

import attrs

from crowdd.core import log_statements
from crowdd.core.records import rights
from crowdd.core.records import statements as record_statements
from crowdd.database import schema
from crowdd.database.access import Database, Transactions
from crowdd.features.projects import statements as project_statements
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.tasks import change_statements, rows, task_list, volunteer_statements
from crowdd.features.tasks.change_bodies import (
    REASONS,
    OrderBody,
    PriorityBody,
    RedundancyBody,
    RetirementBody,
    SchedulerBody,
    TaskRetirementBody,
    TasksBody,
    VolunteerBody,
    WithdrawalBody,
)
from crowdd.features.tasks.change_statements import Chosen
from crowdd.features.tasks.list_statements import TaskFilter
from crowdd.features.tasks.settings import (
    CHUNK,
    RECOUNT_HANDLER_NAME,
    StoppingBody,
    choose_scheduler,
    follow_stopping,
)
from crowdd.features.tasks.task_list import MAX_NAMED
from crowdd.kernel.errors import NOT_FOUND, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.stopping import STOPPING, check_stopping
from crowdd.kinds.task import TASK
from crowdd.sched.queue import Queue, QueuedTask

ANSWERS_PER_TASK: Final = "answers_per_task"
"""The key of ``info`` of a project with what its template proposes."""

_MAX_PROPOSED: Final = 1000
MAX_ANSWERS = 100  # answers to a task that are deleted at once


@attrs.frozen
class Effect:
    """What a change does: ``tasks`` it concerns, those it completes and reopens, ``answers`` that go.

    ``queue_item`` is the piece of work that does it, None when it is done (or was only asked about: ``dry_run``).
    """

    tasks: int
    completed: int
    reopened: int
    answers: int
    dry_run: bool = False
    queue_item: int | None = None


class _UndoneError(Exception):
    """Ends a transaction that was only to show its effect."""

    def __init__(self, effect: Effect) -> None:
        super().__init__()
        self.effect = effect


class Changes:
    """What owners change of the tasks of a project, for API, pages and command line alike.

    ``matching`` chooses tasks instead of ``task_ids``: those that match when they are changed.
    """

    def __init__(self, db: Transactions, notify: Callable[[int], None], queue: Queue) -> None:
        self._db, self._notify, self._queue = db, notify, queue

    async def redundancy(
        self,
        who: Requester,
        project_id: int,
        body: RedundancyBody,
        dry_run: bool = False,
        matching: TaskFilter | None = None,
    ) -> Effect:
        """``n_answers`` of all tasks, or of those in ``task_ids``."""
        values = {"n_answers": body.n_answers}
        return await self._change(who, "redundancy", project_id, _chosen(body, matching), values, dry_run)

    async def priority(
        self,
        who: Requester,
        project_id: int,
        body: PriorityBody,
        dry_run: bool = False,
        matching: TaskFilter | None = None,
    ) -> Effect:
        """``priority_0`` of all tasks, or of those in ``task_ids``."""
        values = {"priority_0": body.priority_0}
        return await self._change(who, "priority", project_id, _chosen(body, matching), values, dry_run)

    async def order(
        self,
        who: Requester,
        project_id: int,
        body: OrderBody,
        dry_run: bool = False,
        matching: TaskFilter | None = None,
    ) -> Effect:
        """``priority_0`` of open tasks by how useful an answer to each is."""
        await self.require(self._db, who, project_id)
        rule = body.rule()
        scale = await change_statements.read_order_scale(self._db, project_id, rule)
        if scale is None:
            raise _nothing_known(rule)
        return await self._change(who, "order", project_id, _chosen(body, matching), {**rule, "scale": scale}, dry_run)

    async def predicted(self, project_id: int) -> rows.Predicted:
        """Which questions and models an order can name."""
        return await change_statements.read_predicted(self._db, project_id)

    async def scheduler(self, who: Requester, project_id: int, body: SchedulerBody, dry_run: bool = False) -> Effect:
        """Which scheduler (``sched``) chooses tasks; ``tasks`` of the effect are those that have to change for it."""
        name, known = body.sched, schema.list_schedulers()
        if name not in known:
            raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="sched", choices=", ".join(known)))
        await self.require(self._db, who, project_id)
        needs = await project_statements.scheduler_needs_tasks(self._db, project_id, name)
        tasks = await change_statements.count_tasks(self._db, project_id) if needs else 0
        if dry_run:
            return Effect(tasks, 0, 0, 0, dry_run=True)

        async def work(tx: Database) -> int | None:
            await self.require(tx, who, project_id)
            if await project_statements.want_scheduler(tx, project_id, name):
                await self._note(tx, who, "scheduler", project_id, None, {"sched": name})
            return await choose_scheduler(tx, self._queue, who, project_id, name)

        item = await self._db.transaction(work)
        self._notify(project_id)
        return Effect(tasks, 0, 0, 0, queue_item=item)

    async def withdraw(self, who: Requester, project_id: int, body: WithdrawalBody, dry_run: bool = False) -> Effect:
        """Deletes what one volunteer has answered."""
        await self.require(self._db, who, project_id)
        actor, named = await self.volunteer(project_id, body), body.chosen
        if named is None:
            answered_ids = await change_statements.list_tasks_of_volunteer(self._db, project_id, actor, MAX_NAMED + 1)
            named = answered_ids if len(answered_ids) <= MAX_NAMED else None
        return await self._change(who, "withdraw", project_id, named, {"actor": actor}, dry_run)

    async def lift(self, who: Requester, project_id: int, body: VolunteerBody, dry_run: bool = False) -> Effect:
        """Has the answers of a volunteer count although they seemed no better than chance."""
        await self.require(self._db, who, project_id)
        actor = await self.volunteer(project_id, body)
        return await self._change(who, "lift", project_id, None, {"actor": actor}, dry_run)

    async def stopping(self, who: Requester, project_id: int, body: StoppingBody, dry_run: bool = False) -> Effect:
        """When tasks stop early. Open tasks follow, with ``completed`` also those that are complete."""
        trust: Values | None = {"min_answers": body.min_answers, "confidence": body.confidence}
        values = {**(trust or {}), "completed": body.completed}
        if body.min_answers is None and body.confidence is None:
            trust = None
        check_stopping(trust)
        await self.require(self._db, who, project_id)
        if dry_run:
            return Effect(
                *_counts(await change_statements.preview(self._db, "stopping", project_id, None, values)), dry_run=True
            )
        done = await self._db.transaction(partial(self._stop, who, project_id, trust, body.completed))
        self._notify(project_id)
        return done

    async def _stop(
        self, who: Requester, project_id: int, trust: Values | None, completed: bool, tx: Database
    ) -> Effect:
        await self.require(tx, who, project_id)
        values = {"min_answers": None, "confidence": None, **(trust or {}), "completed": completed}
        before = await change_statements.preview(tx, "stopping", project_id, None, values)
        await project_statements.write_info_keys(tx, project_id, {STOPPING: trust})
        await self._note(tx, who, "stopping", project_id, None, values)
        done = await follow_stopping(tx, self._queue, who, project_id, completed=completed)
        return Effect(*_counts(before), queue_item=done) if isinstance(done, int) else Effect(*_counts(done))

    async def ask_again(self, who: Requester, project_id: int, named: Sequence[int]) -> Effect:
        """Opens those of these completed tasks again that stopped early and would not be sure any more."""
        values = {"min_answers": None, "confidence": None, "completed": True}
        return await self._change(who, "stopping", project_id, [*named], values, False)

    async def apply_analysis(self, who: Requester, project_id: int, analysis_id: int, dry_run: bool = False) -> Effect:
        """Has the results of completed tasks say what an analysis of the project says, where that differs."""
        values = {"analysis": analysis_id, "user": who.acting_user}
        return await self._change(who, "analysis", project_id, None, values, dry_run)

    async def proposed_answers(self, row: ProjectPage, default: int) -> int:
        """The answers per task with which a form begins: those of the first task, else as the template proposes."""
        proposed = row["info"].get(ANSWERS_PER_TASK)
        if usual := await self.usual_answers(row["id"]):
            return usual
        return proposed if isinstance(proposed, int) and 1 <= proposed <= _MAX_PROPOSED else default

    async def usual_answers(self, project_id: int) -> int | None:
        """How many answers the project's first task needs; None without tasks."""
        return await change_statements.find_usual_answers(self._db, project_id)

    async def delete(
        self,
        who: Requester,
        project_id: int,
        body: TasksBody,
        dry_run: bool = False,
        matching: TaskFilter | None = None,
    ) -> Effect:
        """Deletes all tasks, or those in ``task_ids``, with their answers and results."""
        return await self._change(who, "delete", project_id, _chosen(body, matching), {}, dry_run)

    async def retire(self, who: Requester, task_id: int, body: TaskRetirementBody) -> Effect:
        """Takes a task out. Nobody is handed it any more, and answers on their way are kept as late ones."""
        values = {"reason": body.reason, "note": body.note, "user": who.user_id}
        return await self._change_one(who, "retire", task_id, values)

    async def retire_tasks(
        self,
        who: Requester,
        project_id: int,
        body: RetirementBody,
        dry_run: bool = False,
        matching: TaskFilter | None = None,
    ) -> Effect:
        """Retires all tasks, or those in ``task_ids``; ``note`` says why."""
        values = {"reason": REASONS[0], "note": body.note, "user": who.user_id}
        return await self._change(who, "retire", project_id, _chosen(body, matching), values, dry_run)

    async def reopen_tasks(
        self,
        who: Requester,
        project_id: int,
        body: TasksBody,
        dry_run: bool = False,
        matching: TaskFilter | None = None,
    ) -> Effect:
        """Puts all retired tasks back, or those in ``task_ids``."""
        return await self._change(who, "reopen", project_id, _chosen(body, matching), {}, dry_run)

    async def reopen(self, who: Requester, task_id: int) -> Effect:
        """Puts a retired task back; late answers that find a place count."""
        return await self._change_one(who, "reopen", task_id, {})

    async def carry_on(self, item: QueuedTask) -> dict[str, object]:
        """Does a large change, chunk by chunk; each is consistent, and done once whatever happens between them."""
        project_id = item.project_id
        if project_id is None:
            raise NotFoundError(NOT_FOUND)
        await self.require(self._db, item.who, project_id)
        so_far: Values = item.checkpoint or {"last": 0, "effect": [0, 0, 0, 0]}
        while (after := await self._db.transaction(partial(self._step, item=item, before=so_far))) is not None:
            so_far = after
            self._notify(project_id)
        return attrs.asdict(
            Effect(*so_far["effect"]), filter=lambda field, _value: field.name not in ("dry_run", "queue_item")
        )

    async def _step(self, tx: Database, *, item: QueuedTask, before: Values) -> Values | None:
        """Changes the next tasks; how far it came, None at the end."""
        arguments, project_id = item.arguments, int(item.project_id or 0)
        chunk = await task_list.read_chunk(tx, project_id, task_list.parse_chosen(arguments), before["last"], CHUNK)
        if chunk is None:
            return None
        row = await change_statements.apply(tx, arguments["change"], project_id, chunk.ids, arguments["values"])
        effect = [a + b for a, b in zip(before["effect"], _counts(row), strict=True)]
        after = {"last": chunk.last, "effect": effect}
        await item.progress(item.done + chunk.walked, arguments["total"], after, within=tx)
        return after

    async def _change(
        self,
        who: Requester,
        change: str,
        project_id: int,
        chosen: Chosen,
        values: Mapping[str, object],
        dry_run: bool,
    ) -> Effect:
        await self.require(self._db, who, project_id)
        await task_list.require_searchable(self._db, project_id, chosen)
        if dry_run:
            return Effect(
                *_counts(await change_statements.preview(self._db, change, project_id, chosen, values)), dry_run=True
            )
        at_once = await self._at_once(who, change, project_id, chosen, values)
        return at_once or await self._enqueue(who, change, project_id, chosen, values)

    async def _at_once(
        self, who: Requester, change: str, project_id: int, chosen: Chosen, values: Mapping[str, object]
    ) -> Effect | None:
        """What a change did to at most CHUNK tasks; None if there are more, which it leaves as they are."""

        async def work(tx: Database) -> rows.Effect | None:
            await self.require(tx, who, project_id)
            ids = await task_list.list_few_tasks(tx, project_id, chosen, CHUNK)
            if ids is None:
                return None
            row = await change_statements.apply(tx, change, project_id, ids, values)
            await self._note(tx, who, change, project_id, ids, values)
            return row

        done = await self._db.transaction(work)
        if done is None:
            return None
        self._notify(project_id)
        return Effect(*_counts(done))

    async def _enqueue(
        self, who: Requester, change: str, project_id: int, chosen: Chosen, values: Mapping[str, object]
    ) -> Effect:
        counts = _counts(await change_statements.preview(self._db, change, project_id, chosen, values))
        filter_ = attrs.asdict(chosen) if isinstance(chosen, TaskFilter) else None
        ids = None if isinstance(chosen, TaskFilter) else chosen
        total = len(ids) if ids is not None else await change_statements.count_tasks_ever(self._db, project_id)
        arguments = {"change": change, "values": dict(values), "task_ids": ids, "matching": filter_, "total": total}

        async def work(tx: Database) -> int:
            await self._note(tx, who, change, project_id, chosen, values)
            return await self._queue.add(tx, RECOUNT_HANDLER_NAME, arguments, who, project_id)

        return Effect(*counts, queue_item=await self._db.transaction(work))

    async def _change_one(self, who: Requester, change: str, task_id: int, values: Mapping[str, object]) -> Effect:
        project_id = await record_statements.find_project_id(self._db, TASK, task_id)
        if project_id is None:
            raise NotFoundError(NOT_FOUND)
        return await self._change(who, change, project_id, [task_id], values, dry_run=False)

    async def withdraw_answers(
        self, who: Requester, project_id: int, task_id: int, run_ids: Sequence[int], dry_run: bool = False
    ) -> Effect:
        """Deletes answers to one task, at most as many as one of its pages shows.

        Other ids are passed over. A dry run does the same and undoes it. So do the next two.
        """

        async def delete(tx: Database) -> list[rows.Effect]:
            actors = await change_statements.list_actors(tx, project_id, task_id, run_ids[:MAX_ANSWERS])
            return [
                await change_statements.apply(tx, "withdraw", project_id, [task_id], {"actor": actor})
                for actor in actors
            ]

        return await self._change_answers(who, "withdraw", project_id, task_id, delete, {}, dry_run)

    async def set_answers_aside(
        self,
        who: Requester,
        project_id: int,
        task_id: int,
        run_ids: Sequence[int],
        reason: str,
        dry_run: bool = False,
    ) -> Effect:
        """Stops counting answers to one task, but not those to a gold task. They stay, with the reason."""
        values = {"runs": [*run_ids[:MAX_ANSWERS]], "reason": reason, "user": who.user_id}

        async def set_aside(tx: Database) -> list[rows.Effect]:
            return [await change_statements.apply(tx, "aside", project_id, [task_id], values)]

        return await self._change_answers(who, "aside", project_id, task_id, set_aside, {"reason": reason}, dry_run)

    async def take_answers_back(
        self, who: Requester, project_id: int, task_id: int, run_ids: Sequence[int], dry_run: bool = False
    ) -> Effect:
        """Has answers to one task that were set aside alone count again, where a place is free."""

        async def count_again(tx: Database) -> list[rows.Effect]:
            return [
                await change_statements.apply(tx, "back", project_id, [task_id], {"runs": [*run_ids[:MAX_ANSWERS]]})
            ]

        return await self._change_answers(who, "back", project_id, task_id, count_again, {}, dry_run)

    async def _change_answers(
        self,
        who: Requester,
        change: str,
        project_id: int,
        task_id: int,
        apply: Callable[[Database], Awaitable[list[rows.Effect]]],
        noted: Values,
        dry_run: bool,
    ) -> Effect:
        async def work(tx: Database) -> Effect:
            await self.require(tx, who, project_id)
            done = await apply(tx)
            turned = sum(one.reopened - one.completed for one in done)
            answers = sum(one.answers for one in done)
            effect = Effect(1 if answers else 0, max(0, -turned), max(0, turned), answers, dry_run)
            if dry_run:
                raise _UndoneError(effect)
            if answers:
                after = {"answers": answers, **noted}
                await log_statements.write_act(tx, who, change, "task", task_id, project_id=project_id, after=after)
            return effect

        try:
            effect = await self._db.transaction(work)
        except _UndoneError as undone:
            return undone.effect
        self._notify(project_id)
        return effect

    async def require(self, db: Database, who: Requester, project_id: int) -> None:
        """Raises NotFoundError, AnonymousError or ForbiddenError for those who do not run the project."""
        roles = await record_statements.roles_to_project(db, project_id, who)
        if roles is None or (who.presenter is not None and who.presenter != project_id):
            raise NotFoundError(NOT_FOUND)
        rights.require(who, roles, TASK.rights.update)

    async def volunteer(self, project_id: int, body: VolunteerBody) -> str:
        """The volunteer that a body names."""
        if body.user_id is not None:
            return f"u:{body.user_id}"
        if body.external_uid is not None:
            return f"x:{body.external_uid}"
        if body.volunteer is not None:
            actor = await volunteer_statements.actor_of(self._db, project_id, body.volunteer)
            words = _("This project has no answers from volunteer %(word)s.", word=body.volunteer)
        else:
            run_id = body.taskrun_id or 0
            actor = await change_statements.find_actor(self._db, project_id, run_id)
            words = f"Answer {run_id} does not exist in this project."
        if actor is None:
            raise NotFoundError(NOT_FOUND, hint=words)
        return actor

    async def _note(
        self,
        tx: Database,
        who: Requester,
        change: str,
        project_id: int,
        chosen: Chosen,
        values: Mapping[str, object],
    ) -> None:
        """One row of the audit log for the whole of it; a change of one task is about that task."""
        ids = None if isinstance(chosen, TaskFilter) else chosen
        alone = ids is not None and len(ids) == 1
        after: Values = {**values, "tasks": "all" if ids is None else len(ids)}
        if isinstance(chosen, TaskFilter):
            filters = attrs.asdict(chosen, filter=attrs.filters.exclude("owns"))
            after["tasks"] = {name: value for name, value in filters.items() if value not in (None, ())}
        after.pop("scale", None)  # what an order comes to, not what was asked for
        if "actor" in after:  # not by the secret name of a cookie
            after["volunteer"] = await volunteer_statements.word_of(tx, project_id, after.pop("actor"))
        kind, row_id = ("task", ids[0]) if alone and ids else ("project", project_id)
        await log_statements.write_act(tx, who, change, kind, row_id, project_id=project_id, after=after)


def _chosen(body: TasksBody, matching: TaskFilter | None) -> Chosen:
    """The tasks that a change is about."""
    if matching is None:
        return body.chosen
    return None if matching.is_all else attrs.evolve(matching, owns=True)


def _counts(effect: rows.Effect) -> tuple[int, int, int, int]:
    return effect.tasks, effect.completed, effect.reopened, effect.answers


def _nothing_known(rule: Values) -> InvalidValueError:
    """Why there is no such order."""
    if rule["by"] == "column":
        words = _("No open task has a number in the column “%(name)s”.", name=rule["column"])
    else:
        words = _("No open task has such a prediction for the question “%(name)s”.", name=rule["question"])
    return InvalidValueError(words, code="nothing_to_order")
