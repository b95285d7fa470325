"""Volunteers and networks that owners keep out of a project, and their answers: set aside and brought back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial

import attrs

from crowdd.core import log_statements
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts import statements as account_statements
from crowdd.features.tasks import bar_statements, volunteer_statements
from crowdd.features.tasks.changes import Changes
from crowdd.features.tasks.rows import Bar
from crowdd.kernel.errors import NOT_FOUND, InvalidValueError, NotFoundError, UnknownFieldError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.types import Boolean, Integer, Text
from crowdd.sched.queue import Queue, QueuedTask

CHUNK = 500  # tasks of one transaction
HANDLER = "set_aside"
NAMES = ("volunteer", "user_id", "user_name", "external_uid", "taskrun_id")
_REASON = Text(maximum=1000)
_FLAG = Boolean()
_ID = Integer(minimum=1)


@attrs.frozen
class Barred:
    """A bar: ``sort`` is account, external, anonymous or network; ``shown`` is how owners know them.

    ``volunteer`` is the word of their answers; None for a network and for those who have not answered.
    """

    id: int
    sort: str
    shown: str
    volunteer: str | None
    user_name: str | None
    at: datetime
    by: str | None
    reason: str

    @classmethod
    def of(cls, row: Bar) -> Barred:
        """The bar of a row."""
        sort, _colon, name = row["subject"].partition(":")
        words = {"u": "account", "x": "external", "n": "network"}.get(sort, "anonymous")
        known = {"u": row["user_name"] or "", "x": name, "n": name}
        shown = known[sort] if sort in known else str(row["volunteer"] or row["shown"] or "")
        by = row["user_name"], row["at"], row["by_name"], row["reason"]
        return cls(row["id"], words, shown, row["volunteer"], *by)


@attrs.frozen
class BarResult:
    """What was done: the bar, ``answers`` set aside or brought back so far; ``queue_item`` does the rest."""

    id: int
    answers: int
    queue_item: int | None = None


class Barring:
    """Bars of projects, for API and pages alike."""

    def __init__(self, db: Transactions, notify: Callable[[int], None], queue: Queue, changes: Changes) -> None:
        self._db, self._notify, self._queue, self._changes = db, notify, queue, changes

    async def listed(self, who: Requester, project_id: int) -> list[Barred]:
        """Who is barred from a project, the newest first."""
        await self._changes.require(self._db, who, project_id)
        return [Barred.of(row) for row in await bar_statements.listed(self._db, project_id)]

    async def bar(self, who: Requester, project_id: int, body: object) -> BarResult:
        """Keeps a volunteer out, named by one of NAMES; with ``network`` all anonymous ones of the answer's network.

        With ``set_aside`` (the default) their answers do not count any more.
        """
        fields = _given(body, {*NAMES, "network", "reason", "set_aside"})
        await self._changes.require(self._db, who, project_id)
        subject, shown = await self._subject(project_id, fields)
        reason, aside = _REASON.parse(fields.get("reason", "")), _FLAG.parse(fields.get("set_aside", True))

        async def work(tx: Database) -> int:
            bar_id = await bar_statements.bar(tx, project_id, subject, shown, who.user_id, reason)
            seen = {"volunteer": await _in_log(tx, project_id, subject), "set_aside": aside, "reason": reason}
            await log_statements.write_act(tx, who, "bar", "project", project_id, project_id=project_id, after=seen)
            return bar_id

        bar_id = await self._db.transaction(work)
        return await self._begin(who, project_id, bar_id, "aside") if aside else BarResult(bar_id, 0)

    async def unbar(self, who: Requester, project_id: int, bar_id: int) -> BarResult:
        """Lets somebody in again; answers that were set aside count where a place is free."""
        await self._changes.require(self._db, who, project_id)
        row = await bar_statements.find(self._db, project_id, bar_id)
        if row is None:
            raise NotFoundError(NOT_FOUND)

        async def work(tx: Database) -> bool:
            done = await bar_statements.unbar(tx, project_id, bar_id)
            if done:
                before = {"volunteer": await _in_log(tx, project_id, row.subject)}
                await log_statements.write_act(
                    tx, who, "unbar", "project", project_id, project_id=project_id, before=before
                )
            return done

        if not await self._db.transaction(work):
            raise NotFoundError(NOT_FOUND)
        return await self._begin(who, project_id, bar_id, "back")

    async def _begin(self, who: Requester, project_id: int, bar_id: int, way: str) -> BarResult:
        """Does the first chunk; the queue takes the rest."""
        after, answers = await self._db.transaction(partial(self._step, project_id, bar_id, way, 0))
        self._notify(project_id)
        if after is None or not await self._more(project_id, bar_id, way, after):
            return BarResult(bar_id, answers)
        arguments = {"bar": bar_id, "way": way, "after": after, "answers": answers}
        return BarResult(bar_id, answers, await self._queue.add(self._db, HANDLER, arguments, who, project_id))

    async def carry_on(self, item: QueuedTask) -> dict[str, object]:
        """Goes on chunk by chunk, each consistent in itself and harmless to do twice."""
        arguments, project_id = item.arguments, item.project_id
        if project_id is None:
            raise NotFoundError(NOT_FOUND)
        so_far: Values = item.checkpoint or {"after": arguments["after"], "answers": arguments["answers"]}
        while so_far["after"] is not None:
            so_far = await self._db.transaction(partial(self._carried, item, project_id, so_far))
            self._notify(project_id)
        return {"answers": so_far["answers"]}

    async def _carried(self, item: QueuedTask, project_id: int, so_far: Values, tx: Database) -> Values:
        arguments = item.arguments
        after, answers = await self._step(project_id, arguments["bar"], arguments["way"], so_far["after"], tx)
        now = {"after": after, "answers": so_far["answers"] + answers}
        await item.progress(now["answers"], None, now, within=tx)
        return now

    async def _step(self, project_id: int, bar_id: int, way: str, after: int, tx: Database) -> tuple[int | None, int]:
        """The last task of a chunk, None when there was none, and how many answers."""
        if way == "back":
            return await bar_statements.bring_back(tx, project_id, bar_id, after, CHUNK)
        row = await bar_statements.find(tx, project_id, bar_id)
        ids = [] if row is None else await bar_statements.tasks_of(tx, project_id, row.subject, after, CHUNK)
        return (ids[-1], await bar_statements.set_aside(tx, project_id, ids, bar_id)) if ids else (None, 0)

    async def _more(self, project_id: int, bar_id: int, way: str, after: int) -> bool:
        if way == "back":
            return await bar_statements.has_aside(self._db, project_id, bar_id, after)
        row = await bar_statements.find(self._db, project_id, bar_id)
        return row is not None and bool(await bar_statements.tasks_of(self._db, project_id, row.subject, after, 1))

    async def _subject(self, project_id: int, fields: Mapping[str, object]) -> tuple[str, str | None]:
        """Whom a body names, and how owners know an anonymous one."""
        named = [name for name in NAMES if fields.get(name) not in (None, "")]
        if len(named) != 1:
            raise InvalidValueError(_("Identify the volunteer by one of %(choices)s.", choices=", ".join(NAMES)))
        if named[0] == "taskrun_id":
            return await self._author(project_id, fields)
        if _FLAG.parse(fields.get("network", False)):
            raise InvalidValueError(_("network requires taskrun_id, the id of an anonymous answer from this network."))
        if named[0] == "user_name":
            return await self._account(str(fields["user_name"])), None
        return await self._changes.volunteer(project_id, {named[0]: fields[named[0]]}), None

    async def _account(self, name: str) -> str:
        row = await account_statements.find_by_name(self._db, name.strip())
        if row is None:
            raise NotFoundError(NOT_FOUND, hint=_("No account has the user name “%(name)s”.", name=name.strip()))
        return f"u:{row['id']}"

    async def _author(self, project_id: int, fields: Mapping[str, object]) -> tuple[str, str | None]:
        run_id = _ID.parse(fields["taskrun_id"])
        row = await bar_statements.author(self._db, project_id, run_id)
        if row is None:
            raise NotFoundError(NOT_FOUND, hint=f"Answer {run_id} does not exist in this project.")
        if not _FLAG.parse(fields.get("network", False)):
            return row.actor, row.user_ip
        if row.user_ip is None:
            raise InvalidValueError(_("Answer %(number)s is not anonymous. Bar its volunteer instead.", number=run_id))
        return f"n:{row.user_ip}", row.user_ip


async def _in_log(db: Database, project_id: int, subject: str) -> str:
    """How the audit log names somebody: never by the secret name of a cookie."""
    if not subject.startswith("c:"):
        return subject
    return f"anonymous:{await volunteer_statements.word_of(db, project_id, subject)}"


def _given(body: object, known: set[str]) -> Values:
    if not isinstance(body, dict):
        raise InvalidValueError(_("The body is not a JSON object."))
    for name in body:
        if name not in known:
            raise UnknownFieldError(f"Unknown attribute {name[:100]}. Known attributes: {', '.join(sorted(known))}.")
    return body
