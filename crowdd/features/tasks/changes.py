"""Changes of many tasks while people work: small ones at once, large ones as work of the queue, each with a preview."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from crowdd.core import log_statements
from crowdd.core.records import rights
from crowdd.core.records import statements as record_statements
from crowdd.core.records.item_errors import each
from crowdd.database import schema
from crowdd.database.access import Database, Transactions
from crowdd.features.projects import statements as project_statements
from crowdd.features.tasks import change_statements, rows, task_list, volunteer_statements
from crowdd.features.tasks.change_statements import Chosen
from crowdd.features.tasks.contributions import external_uid
from crowdd.features.tasks.list_statements import TaskFilter
from crowdd.features.tasks.settings import (
    CHUNK,
    RECOUNT_HANDLER_NAME,
    STOPPING,
    check_stopping,
    choose_scheduler,
    follow_stopping,
)
from crowdd.features.tasks.task_list import MAX_NAMED
from crowdd.kernel.errors import NOT_FOUND, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.task import TASK
from crowdd.kinds.types import Integer, Text
from crowdd.sched.queue import Queue, QueuedTask

MAX_ANSWERS = 100  # answers to a task that are deleted at once
REASONS = ("retired", "cancelled")
_ID = Integer(minimum=1)
_NOTE = Text(maximum=1000)
_WORD = Text(maximum=100, minimum=1)
_VOLUNTEERS = ("volunteer", "user_id", "external_uid", "taskrun_id")


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
        self, who: Requester, project_id: int, body: object, dry_run: bool = False, matching: TaskFilter | None = None
    ) -> Effect:
        """``n_answers`` of all tasks, or of those in ``task_ids``."""
        fields = _given(body, {"n_answers", "task_ids"})
        values = {"n_answers": TASK.field("n_answers").parse(fields.get("n_answers"))}
        return await self._change(who, "redundancy", project_id, _chosen(fields, matching), values, dry_run)

    async def priority(
        self, who: Requester, project_id: int, body: object, dry_run: bool = False, matching: TaskFilter | None = None
    ) -> Effect:
        """``priority_0`` of all tasks, or of those in ``task_ids``."""
        fields = _given(body, {"priority_0", "task_ids"})
        values = {"priority_0": TASK.field("priority_0").parse(fields.get("priority_0"))}
        return await self._change(who, "priority", project_id, _chosen(fields, matching), values, dry_run)

    async def scheduler(self, who: Requester, project_id: int, body: object, dry_run: bool = False) -> Effect:
        """Which scheduler (``sched``) chooses tasks; ``tasks`` of the effect are those that have to change for it."""
        name = _given(body, {"sched"}).get("sched")
        if name not in schema.list_schedulers():
            raise InvalidValueError(_not_one_of("sched", schema.list_schedulers()))
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

    async def withdraw(self, who: Requester, project_id: int, body: object, dry_run: bool = False) -> Effect:
        """Deletes what one volunteer has answered.

        They are named by the code of their answers (``volunteer``), by ``user_id``, ``external_uid``, or by an answer
        (``taskrun_id``).
        """
        fields = _given(body, {*_VOLUNTEERS, "task_ids"})
        await self.require(self._db, who, project_id)
        actor, named = await self.volunteer(project_id, fields), task_ids(fields)
        if named is None:
            answered_ids = await change_statements.list_tasks_of_volunteer(self._db, project_id, actor, MAX_NAMED + 1)
            named = answered_ids if len(answered_ids) <= MAX_NAMED else None
        return await self._change(who, "withdraw", project_id, named, {"actor": actor}, dry_run)

    async def lift(self, who: Requester, project_id: int, body: object, dry_run: bool = False) -> Effect:
        """Has the answers of a volunteer count although they seemed no better than chance; named as in ``withdraw``."""
        fields = _given(body, {*_VOLUNTEERS})
        await self.require(self._db, who, project_id)
        actor = await self.volunteer(project_id, fields)
        return await self._change(who, "lift", project_id, None, {"actor": actor}, dry_run)

    async def stopping(self, who: Requester, project_id: int, body: object, dry_run: bool = False) -> Effect:
        """When tasks stop early: ``min_answers`` and ``confidence``, both null for never.

        Open tasks follow, with ``completed`` also those that are complete.
        """
        fields = _given(body, {"min_answers", "confidence", "completed"})
        minimum, confidence = fields.get("min_answers"), fields.get("confidence")
        completed = fields.get("completed", False)
        trust: Values | None = {"min_answers": minimum, "confidence": confidence}
        if minimum is None and confidence is None:
            trust = None
        check_stopping(trust)
        if type(completed) is not bool:
            raise InvalidValueError(_("`completed` must be true or false."))
        await self.require(self._db, who, project_id)
        if dry_run:
            values = {"min_answers": minimum, "confidence": confidence, "completed": completed}
            return Effect(
                *_counts(await change_statements.preview(self._db, "stopping", project_id, None, values)), dry_run=True
            )
        done = await self._db.transaction(partial(self._stop, who, project_id, trust, completed))
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

    async def usual_answers(self, project_id: int) -> int | None:
        """How many answers the project's first task needs; None without tasks."""
        return await change_statements.find_usual_answers(self._db, project_id)

    async def delete(
        self, who: Requester, project_id: int, body: object, dry_run: bool = False, matching: TaskFilter | None = None
    ) -> Effect:
        """Deletes all tasks, or those in ``task_ids``, with their answers and results."""
        chosen = _chosen(_given(body, {"task_ids"}), matching)
        return await self._change(who, "delete", project_id, chosen, {}, dry_run)

    async def retire(self, who: Requester, task_id: int, body: object) -> Effect:
        """Takes a task out: ``reason`` is retired (enough is known) or cancelled; ``note`` says why.

        Nobody is handed it any more, and answers on their way are kept as late ones.
        """
        fields = _given(body, {"reason", "note"})
        reason = fields.get("reason", REASONS[0])
        if reason not in REASONS:
            raise InvalidValueError(_not_one_of("reason", REASONS))
        values = {"reason": reason, "note": _NOTE.parse(fields.get("note", "")), "user": who.user_id}
        return await self._change_one(who, "retire", task_id, values)

    async def retire_tasks(
        self, who: Requester, project_id: int, body: object, dry_run: bool = False, matching: TaskFilter | None = None
    ) -> Effect:
        """Retires all tasks, or those in ``task_ids``; ``note`` says why."""
        fields = _given(body, {"note", "task_ids"})
        values = {"reason": REASONS[0], "note": _parsed(_NOTE, "note", fields.get("note", "")), "user": who.user_id}
        return await self._change(who, "retire", project_id, _chosen(fields, matching), values, dry_run)

    async def reopen_tasks(
        self, who: Requester, project_id: int, body: object, dry_run: bool = False, matching: TaskFilter | None = None
    ) -> Effect:
        """Puts all retired tasks back, or those in ``task_ids``."""
        chosen = _chosen(_given(body, {"task_ids"}), matching)
        return await self._change(who, "reopen", project_id, chosen, {}, dry_run)

    async def reopen(self, who: Requester, task_id: int, body: object) -> Effect:
        """Puts a retired task back; late answers that find a place count."""
        _given(body, set())
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

        Other ids are passed over. A dry run does the same and undoes it.
        """

        async def work(tx: Database) -> Effect:
            await self.require(tx, who, project_id)
            actors = await change_statements.list_actors(tx, project_id, task_id, run_ids[:MAX_ANSWERS])
            done = [
                await change_statements.apply(tx, "withdraw", project_id, [task_id], {"actor": actor})
                for actor in actors
            ]
            turned = sum(one.reopened - one.completed for one in done)
            answers = sum(one.answers for one in done)
            effect = Effect(1 if answers else 0, max(0, -turned), max(0, turned), answers, dry_run)
            if dry_run:
                raise _UndoneError(effect)
            if answers:
                after = {"answers": answers}
                await log_statements.write_act(tx, who, "withdraw", "task", task_id, project_id=project_id, after=after)
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

    async def volunteer(self, project_id: int, fields: Values) -> str:
        """The one volunteer that a body names."""
        named = [name for name in _VOLUNTEERS if fields.get(name) is not None]
        if len(named) != 1:
            raise InvalidValueError(_("Identify the volunteer by one of %(choices)s.", choices=", ".join(_VOLUNTEERS)))
        (name,) = named
        if name == "external_uid":
            return f"x:{external_uid(fields[name])}"
        if name == "volunteer":
            return await self._named_by_word(project_id, fields[name])
        number = _parsed(_ID, name, fields[name])
        actor = f"u:{number}" if name == "user_id" else await change_statements.find_actor(self._db, project_id, number)
        if actor is None:
            raise NotFoundError(NOT_FOUND, hint=f"Answer {number} does not exist in this project.")
        return actor

    async def _named_by_word(self, project_id: int, word: object) -> str:
        text = _parsed(_WORD, "volunteer", word)
        actor = await volunteer_statements.actor_of(self._db, project_id, text)
        if actor is None:
            words = _("This project has no answers from volunteer %(word)s.", word=text)
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
        if "actor" in after:  # not by the secret name of a cookie
            after["volunteer"] = await volunteer_statements.word_of(tx, project_id, after.pop("actor"))
        kind, row_id = ("task", ids[0]) if alone and ids else ("project", project_id)
        await log_statements.write_act(tx, who, change, kind, row_id, project_id=project_id, after=after)


def task_ids(fields: Mapping[str, object]) -> list[int] | None:
    """The tasks that a body names, sorted; None where it names none, which means all."""
    named = fields.get("task_ids")
    if named is None:
        return None
    if not isinstance(named, list) or len(named) > MAX_NAMED:
        raise InvalidValueError(_("`task_ids` must be an array of at most %(maximum)s task ids.", maximum=MAX_NAMED))
    return sorted({*each(named, True, partial(_parsed, _ID, "task_ids"))})


def _chosen(fields: Mapping[str, object], matching: TaskFilter | None) -> Chosen:
    """The tasks that a change is about."""
    if matching is None:
        return task_ids(fields)
    return None if matching.is_all else attrs.evolve(matching, owns=True)


def _given(body: object, known: set[str]) -> Values:
    """A body that is an object with no other keys than these; nothing is as good as an empty one."""
    if body is None:
        return {}
    if not isinstance(body, dict):
        raise InvalidValueError(_("The body is not a JSON object."))
    for name in body:
        if name not in known:
            raise TASK.unknown(name)
    return body


def _not_one_of(name: str, choices: Iterable[str]) -> str:
    return _("%(name)s must be one of %(choices)s.", name=name, choices=", ".join(choices))


def _parsed(type_: Integer | Text, name: str, value: object) -> Any:
    try:
        return type_.parse(value)
    except InvalidValueError as error:
        raise InvalidValueError(f"{name} {error}.") from None


def _counts(effect: rows.Effect) -> tuple[int, int, int, int]:
    return effect.tasks, effect.completed, effect.reopened, effect.answers
