"""Contributions: a volunteer requests a task, answers it, changes or deletes the answer, and sees their progress.

An answer may have 256 kB, or ``info.max_answer_bytes`` of its project, and a limited number of marks.
"""

from __future__ import annotations

import hashlib
import math
import secrets as random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import BytesIO

import attrs
import orjson

from crowdd.core.quotas import LARGE_ANSWER, Once, Quota
from crowdd.core.records import history_statements
from crowdd.core.records.item_errors import each, refused_item
from crowdd.core.records.records import Behaviour, Records, bounded
from crowdd.core.uploads import FileChanges, Upload, WithUpload
from crowdd.database.access import Database, Row, Transactions
from crowdd.features.answer_files.answer_files import AnswerFiles, Place
from crowdd.features.groups.networks import Networks
from crowdd.features.media.incoming_files import Part
from crowdd.features.projects import statements as project_statements
from crowdd.features.projects.external_users import ExternalUsers
from crowdd.features.tasks import statements
from crowdd.features.tasks.rows import Amended, Answer, Ask, Handed, Progress, Submitted
from crowdd.kernel.concurrency.batching import Batcher, BatcherFactory
from crowdd.kernel.concurrency.throttling import Turns
from crowdd.kernel.errors import (
    NOT_FOUND,
    AnonymousError,
    CrowddError,
    ForbiddenError,
    InvalidRequestError,
    InvalidValueError,
    NotFoundError,
    UnavailableError,
    at_item,
)
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Json, Values
from crowdd.kinds.answer_files import named_files
from crowdd.kinds.answers import MarkLimit, declared
from crowdd.kinds.answers.marks import OF_MARKS, may_be_many
from crowdd.kinds.project import PROJECT
from crowdd.kinds.roles import EVERYONE, OWNERS, Role
from crowdd.kinds.sizes import json_bytes, too_large
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import MAX_ANSWER_BYTES, TASK_RUN
from crowdd.kinds.types import require_object


async def require_answer_size(db: Database, project_id: int, info: object) -> int:
    """The size of an ``info`` in bytes; the database is asked for its project's limits where it is large.

    Raises TooLargeError beyond those limits.
    """
    size = json_bytes(info)
    if size > MAX_ANSWER_BYTES:
        limit = await project_statements.read_max_answer_bytes(db, project_id) or MAX_ANSWER_BYTES
        if size > limit:
            raise too_large("info", limit, size)
    if may_be_many(info, size):
        MarkLimit.of(await project_statements.read_mark_keys(db, project_id)).require(info)
    return size


async def require_right_answer_size(
    db: Database, project_id: int, answers: Sequence[Json], rule: Values | None
) -> None:
    """Raises TooLargeError when a right answer to a gold task has more marks than an answer may have."""
    info = await project_statements.read_mark_keys(db, project_id)
    fields = declared(info)
    if (rule["type"] if rule else fields[0].type if fields else "") in OF_MARKS:
        for answer in answers:
            MarkLimit.of(info).require_few([answer])


MAX_TASKS = 100
MAX_LEASES = 200
FEW_TASKS = 20  # that one request may lease or skip at any time; for more requests take turns
SORT_SECONDS = 5  # that an order without index may take
_TRIES = 20
_AUTHOR = frozenset({Role.ANYBODY, Role.AUTHOR})


@attrs.frozen
class Handout:
    """What newtask gives: tasks as the volunteer may see them, as JSON, or why there are none.

    ``reason`` is "" with tasks, "none" when the volunteer has done all, "network" when others in their network have
    answered the rest, "wait" when others hold the last open places; then ``retry_in`` is in seconds.
    """

    tasks: list[orjson.Fragment]
    reason: str = ""
    retry_in: int | None = None


def candidate_scan(orderby: str, descending: bool) -> str:
    """The scan of an order. Those of id, created and priority_0 cost the same at any size; others begin with ``sort/``.

    A project's tasks have their ids in the order in which they were created. Raises UnknownFieldError for what is no
    attribute of a task that a volunteer may see.
    """
    match orderby or "priority_0":
        case "priority_0":
            return "priority" if descending or not orderby else "priority-up"
        case "id" | "created":
            return "id-down" if descending else "id"
    if TASK.readers(TASK.searchable(orderby)) != EVERYONE:
        raise TASK.unknown(orderby)
    return f"sort/{orderby}/{'desc' if descending else 'asc'}"


def refusal(state: str, who: Requester) -> CrowddError | None:
    """The error for a state that bars a volunteer from a project's tasks."""
    match state:
        case "no project" | "no task":
            return NotFoundError(NOT_FOUND)
        case "locked":
            return _locked()
        case "members only":
            words = _("This project does not allow anonymous contributors")
            return AnonymousError(words, code="members_only", hint="Sign in first.")
        case "paused":
            return ForbiddenError(_("This project is paused."), code="paused", hint="Come back later.")
        case "barred":
            return _barred()
    return None


def _barred() -> ForbiddenError:
    return ForbiddenError(_("The owner of this project does not accept answers from you."), code="barred")


def _not_asked() -> ForbiddenError:
    return ForbiddenError(_("You must request a task first!"), code="no_lease", hint="Request a task with newtask.")


def _in_result() -> ForbiddenError:
    return ForbiddenError(_("This answer is part of a result."), code="in_result")


def _locked() -> ForbiddenError:
    words = _("This project requires a password.")
    return ForbiddenError(words, code="project_password", hint="Send it as X-Project-Password.")


class Contributions:
    """Hands tasks out and takes answers in."""

    def __init__(
        self,
        db: Transactions,
        new_batcher: BatcherFactory,
        notify: Callable[[int], None],
        external: ExternalUsers,
        records_: Records,
        networks: Networks,
        quota: Quota,
        preloads: Turns,
        files: AnswerFiles,
        *,
        keep_circumstances: bool,
    ) -> None:
        """``preloads``: turns of those who ask for many tasks at once."""
        self._files = files
        self._keep_circumstances = keep_circumstances
        self._quota, self.preloads, self.networks = quota, preloads, networks
        self._db, self._notify, self._external, self._records = db, notify, external, records_
        self._asks: Batcher[Ask, Handed] = new_batcher(self._ask_together, self._ask_alone)
        self._answers: Batcher[Answer, Submitted] = new_batcher(self._answer_together, self._answer_alone)
        self._progress: Mapping[str, Batcher[statements.ActorIn, Progress | None]] = {
            column: new_batcher(partial(statements.read_progress_together, db, column))
            for column in ("id", "short_name")
        }

    async def identify(
        self, who: Requester, project_id: int | None, uid: str | None, bearer: str | None, *, reads: bool = False
    ) -> Requester:
        """The requester, or the external user whom they name. Nothing else decides who may name one.

        That is who has the project's token. Where the request only asks for something (``reads``), owners may, too, and
        everybody if the site is open; ``project_id`` is None if it asks about all projects, which administrators may.
        Raises AnonymousError, InvalidRequestError without a project.
        """
        if uid is None:
            return who
        speaker = as_external(who, uid)
        if reads and bearer is None and (self._external.open_reads or await self._owns(who, project_id)):
            return speaker
        if project_id is None:
            raise InvalidRequestError("Send project_id: external users belong to a project.")
        draft = await self._external.verify(bearer, project_id, uid)
        return attrs.evolve(speaker, unlocked=(*speaker.unlocked, draft)) if draft else speaker

    async def _owns(self, who: Requester, project_id: int | None) -> bool:
        """Whether the requester owns the project, or administers the site."""
        if who.acting_admin or project_id is None or who.acting_user is None:
            return who.acting_admin
        try:
            row = await self._records.find(self._db, PROJECT, who, project_id)
        except NotFoundError:
            return False
        return bool(row["roles"] & OWNERS)

    async def next_tasks(self, who: Requester, project_id: int, limit: int, offset: int, scan: str) -> Handout:
        """Up to ``limit`` tasks from ``offset`` of the volunteer's own sequence, leased to them."""
        _same_project(who, project_id)
        if offset >= MAX_LEASES:
            return Handout([], "none")
        network = await self.networks.of(who, project_id)
        ask = statements.build_ask(who, project_id, limit, offset, scan, network)
        if limit + offset > FEW_TASKS:
            row = await self.preloads.run(who.network, partial(self._asked, ask, together=False))
        else:
            row = await self._asked(ask)
        if error := refusal(row["state"], who):
            raise error
        if row["state"] != "ok":
            wait = row["retry_in"]
            return Handout([], row["state"], None if wait is None else max(1, math.ceil(wait.total_seconds())))
        return Handout([orjson.Fragment(task) for task in row["tasks"] or ()])

    async def _asked(self, ask: Ask, *, together: bool = True) -> Handed:
        alone = not together or ask["scan"].startswith("sort/")
        row = await (self._ask_alone(ask) if alone else self._asks.add(ask))
        for _try in range(_TRIES):
            if row["lapsed"]:
                self._notify(ask["project"])
            if row["state"] != "again":
                return row
            row = await self._ask_alone(ask)
        raise UnavailableError(_("Too many volunteers are asking for tasks at once."), retry_after=1)

    async def _ask_together(self, asks: list[Ask]) -> list[Handed]:
        return await statements.lease_next_tasks(self._db, asks, self._records.base_url, wait=False)

    async def _ask_alone(self, ask: Ask, uncertain: bool = False) -> Handed:
        async def within_time(tx: Database) -> list[Handed]:
            await statements.limit_time(tx, SORT_SECONDS)
            return await statements.lease_next_tasks(tx, [ask], self._records.base_url, wait=True)

        if ask["scan"].startswith("sort/"):
            return (await self._db.transaction(within_time))[0]
        return (await statements.lease_next_tasks(self._db, [ask], self._records.base_url, wait=True))[0]

    async def hold(self, who: Requester, project_id: int, task_id: int) -> str:
        """Hands out a named task, as the page of a task does: leased, late or answered."""
        _same_project(who, project_id)
        network = await self.networks.of(who, project_id)
        state = await statements.lease_task(self._db, who, network, project_id, task_id)
        if error := refusal(state, who):
            raise error
        return state

    async def require_task(self, project_id: int, task_id: int) -> None:
        """Raises NotFoundError unless the project has this task."""
        if await statements.find_project(self._db, task_id) != project_id:
            raise NotFoundError(NOT_FOUND)

    async def progress(
        self, who: Requester, reference: int | str, uid: str | None = None, bearer: str | None = None
    ) -> Values:
        """``done``: answers of the volunteer in the project; ``total``: its tasks; ``accuracy`` where it is shown.

        ``uid`` and ``bearer`` as with ``identify``. Where everybody may name a person, they get no accuracy.
        """
        row = await self._progress[statements.choose_project_column(reference)].add(
            (as_external(who, uid).actor, reference)
        )
        if row is None:
            raise NotFoundError(NOT_FOUND)
        _same_project(who, row["id"])
        known = who.admin or who.user_id in row["owners_ids"]
        try:
            unlocked = (await self.identify(who, row["id"], uid, bearer, reads=True)).unlocked
        except AnonymousError:
            if not row["published"] and not known:  # that there is such a draft is not told
                raise NotFoundError(NOT_FOUND) from None
            raise
        if not row["published"] and not known and row["draft_key"] not in unlocked:
            raise NotFoundError(NOT_FOUND)
        if row["lock_id"] is not None and not known and row["lock_id"] not in unlocked:
            raise _locked()
        strange = uid is not None and bearer is None and self._external.open_reads
        shown = {} if row["accuracy"] is None or strange else {"accuracy": row["accuracy"]}
        return {"done": row["done"], "total": int(row["total"]), **shown}

    async def submit(
        self,
        who: Requester,
        body: object,
        uid: str | None,
        bearer: str | None,
        once: Once | None = None,
        *,
        brings_next: bool = False,
    ) -> Values | list[Values]:
        """The stored answer, or answers for an array: all or none. A request sent again (``once``) stores nothing.

        With ``brings_next``, one answer has ``next_task``: what newtask would give then, or None.
        """
        sent = body if isinstance(body, WithUpload) else None
        if sent is not None:
            body = dict(sent.attributes)
        many = isinstance(body, list)
        bodies: list[object] = bounded(body, MAX_LEASES) if isinstance(body, list) else [body]
        answers = each(bodies, many, lambda one: TASK_RUN.creation(require_object(one)))
        if not self._keep_circumstances:
            answers = [{**values, "circumstances": None} for values in answers]
        callers = []
        for number, values in enumerate(answers):
            with at_item(number if many else None):
                await self._require_room(values)
                callers.append(await self._caller(who, values, uid, bearer))
                _same_project(callers[-1], values["project_id"])
                if sent is not None:
                    await self._attach(callers[-1], values, sent.upload, once)
                values["info"] = await self._files.described(
                    callers[-1], values["project_id"], values["task_id"], values["info"]
                )
        submissions = await self._given(callers, answers)
        with_files = any(named_files(values["info"]) for values in answers)

        async def work(tx: Database) -> list[Values]:
            if once and (before := await once.made_before(tx)) is not None:
                return await self._records.views_of(tx, TASK_RUN, who, before, _AUTHOR)
            rows = await refused_item(tx, submissions, many, partial(statements.submit_answers, tx))
            made = []
            for number, one in enumerate(zip(callers, answers, rows, strict=True)):
                with at_item(number if many else None):
                    made.append(await self._made(tx, *one))
                    if with_files:
                        run, info = made[-1]["id"], one[1]["info"]
                        await self._files.settle(tx, one[1]["project_id"], run, info)
            if once:
                await once.keep(tx, [run["id"] for run in made])
            return made

        if once is None and len(answers) == 1 and not with_files:
            with at_item(0 if many else None):
                row = await self._answers.add(submissions[0])
                made = [await self._made(self._db, callers[0], answers[0], row)]
        else:
            made = await self._db.transaction(work)
        for project_id in {values["project_id"] for values in answers}:
            self._notify(project_id)
        if many or not brings_next:
            return made if many else made[0]
        return {**made[0], "next_task": await self._next_task(callers[0], answers[0]["project_id"])}

    async def _attach(self, who: Requester, values: Values, upload: Upload, once: Once | None) -> None:
        """Takes the file of an answer (``AnswerFiles.take``), which says so in ``info.file`` and ``media_url``."""
        info = {} if values["info"] is None else values["info"]
        if not isinstance(info, dict):
            raise InvalidValueError("With a file, info must be a JSON object.")
        await self.require_asker(who, None, [values["task_id"]])
        key = hashlib.sha256(once.key.encode()).hexdigest()[:32] if once else random.token_hex(16)
        size, place = len(upload.content), Place(values["project_id"], values["task_id"], key)
        arrival = await self._files.take(who, place, size, Part(0, BytesIO(upload.content), size))
        if arrival.file is None:
            raise UnavailableError("This file is being prepared.", retry_after=2)
        values["info"] = {**info, "file": [arrival.file]}
        values["media_url"] = f"{self._records.base_url}{arrival.file['file']}"

    async def _next_task(self, who: Requester, project_id: int) -> orjson.Fragment | None:
        """Only what bars the volunteer from a task is no error: their answer is stored."""
        try:
            handout = await self.next_tasks(who, project_id, 1, 0, candidate_scan("", descending=False))
        except (NotFoundError, AnonymousError, ForbiddenError, UnavailableError):
            return None
        return handout.tasks[0] if handout.tasks else None

    async def require_asker(self, who: Requester, uid: str | None, task_ids: Sequence[int]) -> None:
        """Passes for a volunteer who asked for at least one of these tasks, also if they have answered it.

        For bodies that take long to parse: what they say is not known yet but for the tasks that they may name.
        """
        speaker = who if uid is None else as_external(who, uid)
        if not await statements.has_asked(self._db, speaker.actor, task_ids):
            raise _not_asked()

    async def _require_room(self, values: Values) -> None:
        """Refuses an answer that is larger than its project allows, or for which its owner has no bytes left."""
        project_id = values["project_id"]
        if await require_answer_size(self._db, project_id, values["info"]) > LARGE_ANSWER:
            await self._quota.require_room(self._db, project_id)

    async def _given(self, callers: list[Requester], answers: list[Values]) -> list[Answer]:
        addresses = dict[tuple[str, int], str | None]()
        for who, values in zip(callers, answers, strict=True):
            place = (who.actor, values["project_id"])
            if place not in addresses:
                addresses[place] = await self._address(who, values["project_id"])
        return [
            statements.build_answer(who, values, addresses[who.actor, values["project_id"]])
            for who, values in zip(callers, answers, strict=True)
        ]

    async def _address(self, who: Requester, project_id: int) -> str | None:
        """What an answer says of an anonymous volunteer's network; nothing of others."""
        return None if who.external_uid is not None or who.signed_in else await self.networks.of(who, project_id)

    async def correct(self, who: Requester, task_id: int, info: object, uid: str | None, bearer: str | None) -> Values:
        """The volunteer's own answer to a task, once it says ``info``; ``uid`` and ``bearer`` as with newtask.

        Raises NotFoundError without an answer, ForbiddenError when it has been part of a result for too long.
        """
        who, project_id = await self.known(who, task_id, uid, bearer)
        info = await self._files.described(who, project_id, task_id, info)
        await require_answer_size(self._db, project_id, info)
        network = await self.networks.of(who, project_id)

        async def work(tx: Database) -> tuple[Amended, int]:
            done = await statements.correct_answer(tx, who, network, project_id, task_id, info)
            run_id = _amended(done)
            await self._files.settle(tx, project_id, run_id, info)
            return done, run_id

        done, run_id = await self._db.transaction(work)
        if done.state == "changed":
            self._notify(project_id)
        row = await self._records.find(self._db, TASK_RUN, who, run_id)
        return self._records.view(TASK_RUN, {**row, "roles": row["roles"] | _AUTHOR})

    async def known(self, who: Requester, task_id: int, uid: str | None, bearer: str | None) -> tuple[Requester, int]:
        """Who speaks of a task, and its project. NotFoundError: there is none, or none for this presenter."""
        project_id = await statements.find_project(self._db, task_id)
        if project_id is None or who.presenter not in (None, project_id):
            raise NotFoundError(NOT_FOUND)
        return await self.identify(who, project_id, uid, bearer), project_id

    async def _caller(self, who: Requester, values: Values, uid: str | None, bearer: str | None) -> Requester:
        named = values["external_uid"] if values["external_uid"] is not None else uid
        if named is None:
            return who
        if uid is not None and named != uid:
            raise ForbiddenError("external_uid in the body must be the same as in the address.", code="external_uid")
        return await self.identify(who, values["project_id"], named, bearer)

    async def _answer_together(self, answers: list[Answer]) -> list[Submitted]:
        return await statements.submit_answers(self._db, answers, hurry=len(answers) > 1)

    async def _answer_alone(self, answer: Answer, uncertain: bool) -> Submitted:
        """``uncertain``: its batch was lost on the way, perhaps after the commit; the same answer may be there."""
        (row,) = await statements.submit_answers(self._db, [answer])
        if uncertain and row["state"] == "duplicate" and row["run"] is not None:
            return await statements.find_stored_answer(self._db, answer, row["run"]) or row
        return row

    async def _made(self, db: Database, who: Requester, values: Values, row: Submitted) -> Values:
        if row["run"] is None or row["state"] == "duplicate":
            raise await self._why_refused(db, row["state"], values)
        view = self._records.view(TASK_RUN, _stored(who, values, row))
        return view if row["feedback"] is None else {**view, "gold": row["feedback"]}

    async def _why_refused(self, db: Database, state: str, values: Values) -> CrowddError:
        if state == "duplicate":
            return ForbiddenError(
                _("You have already answered this task."), code="duplicate", hint="Ask for another task."
            )
        if state == "barred":
            return _barred()
        if state == "no task":
            project_id = await statements.find_project(db, values["task_id"])
            return ForbiddenError(
                "Invalid task_id" if project_id is None else "Invalid project_id", code="invalid_task"
            )
        return _not_asked()


class TaskRunBehaviour(Behaviour):
    """Answers change rarely: their author corrects them (``amend_answer``), owners delete spam."""

    def __init__(self, files: AnswerFiles) -> None:
        super().__init__(TASK_RUN)
        self._files = files

    async def lock(self, tx: Database, row_id: int) -> None:
        """Nothing: changing and deleting lock the ledger row first, themselves."""

    async def change(self, tx: Database, who: Requester, row: Row, changes: Values) -> None:
        project_id = row["project_id"]
        if "info" in changes:
            info = await self._files.described(who, project_id, row["task_id"], changes["info"], row["id"])
            changes = {**changes, "info": info}
        await require_answer_size(tx, project_id, changes.get("info"))
        admin = Role.AUTHOR not in row["roles"]
        _amended(await statements.rewrite_answer(tx, project_id, row["id"], changes, admin=admin))
        if "info" in changes:
            await self._files.settle(tx, project_id, row["id"], changes["info"])

    async def delete(self, tx: Database, who: Requester, row: Row, files: FileChanges) -> None:
        # Authors who have heard what is right could answer once more.
        if not row["roles"] & OWNERS and await statements.tells_gold(tx, row["project_id"]):
            raise _in_result()
        if not await statements.delete_run(tx, row["project_id"], row["id"]):
            raise NotFoundError(NOT_FOUND)
        if Role.AUTHOR in row["roles"]:  # withdrawn: what it said is not kept
            await history_statements.empty_answer_versions(tx, row["project_id"], row["id"])


def _amended(done: Amended) -> int:
    """The id of an answer that says now what was wanted. Raises ForbiddenError, NotFoundError."""
    if done.state == "barred":
        raise _barred()
    if done.state == "in result":
        raise _in_result()
    if done.run is None:
        raise NotFoundError(NOT_FOUND, hint="You have not answered this task.")
    return done.run


def as_external(who: Requester, uid: str | None) -> Requester:
    """The external user that a requester names, or the requester; whether they may is checked elsewhere."""
    if uid is None:
        return who
    sender = who.user_id if who.session else None
    return attrs.evolve(who, external_uid=external_uid(uid), user_id=None, admin=False, sender=sender)


def external_uid(text: str) -> str:
    """The id of an external user; InvalidValueError when it is empty, too long or no text."""
    return str(TASK_RUN.field("external_uid").parse(text))


def _stored(who: Requester, values: Values, row: Submitted) -> Row:
    """The row of an answer as its author may see it; owners alone read user_ip."""
    return {
        **values,
        "id": row["run"],
        "user_id": who.user_id,
        "user_ip": None,
        "external_uid": who.external_uid,
        "volunteer": row["volunteer"],
        "created": row["granted"],
        "finish_time": row["finish_time"],
        "timeout": row["late_seconds"],
        "media_url": values.get("media_url"),
        "roles": _AUTHOR,
    }


def _same_project(who: Requester, project_id: int) -> None:
    """Refuses a presenter that asks for another project than its own."""
    if who.presenter is not None and who.presenter != project_id:
        raise ForbiddenError(_("A presenter may only access its own project."), code="presenter")
