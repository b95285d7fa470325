"""Volunteers and networks that owners keep out of a project, and their answers: set aside and brought back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

import attrs

from crowdd.core import log_statements
from crowdd.database.access import Database, Transactions
from crowdd.features.accounts import statements as account_statements
from crowdd.features.tasks import bar_statements, volunteer_statements
from crowdd.features.tasks.change_bodies import VolunteerBody
from crowdd.features.tasks.changes import Changes
from crowdd.features.tasks.rows import Bar
from crowdd.kernel.errors import NOT_FOUND, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.body import key
from crowdd.kinds.types import Boolean, Text
from crowdd.sched.queue import Queue, QueuedTask

CHUNK = 500  # tasks of one transaction
HANDLER = "set_aside"


class BarBody(VolunteerBody, exactly_one=("volunteer", "user_id", "user_name", "external_uid", "taskrun_id")):
    """A volunteer or a network that is barred."""

    user_name: str | None = key(Text(minimum=1, maximum=255), "User name of their account.", default=None)
    network: bool = key(
        Boolean(),
        "With taskrun_id: bar all anonymous volunteers of the network that the answer came from.",
        default=False,
    )
    set_aside: bool = key(Boolean(), "Whether to stop counting their answers.", default=True)
    reason: str = key(Text(maximum=1000), default="")


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

    async def bar(self, who: Requester, project_id: int, body: BarBody) -> BarResult:
        """Keeps a volunteer out, or all anonymous ones of a network."""
        await self._changes.require(self._db, who, project_id)
        subject, shown = await self._subject(project_id, body)
        reason, aside = body.reason, body.set_aside

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

    async def _subject(self, project_id: int, body: BarBody) -> tuple[str, str | None]:
        """Whom a body names, and how owners know an anonymous one."""
        if body.taskrun_id is not None:
            return await self._author(project_id, body.taskrun_id, network=body.network)
        if body.network:
            raise InvalidValueError(_("network requires taskrun_id, the id of an anonymous answer from this network."))
        if body.user_name is not None:
            return await self._account(body.user_name), None
        return await self._changes.volunteer(project_id, body), None

    async def _account(self, name: str) -> str:
        row = await account_statements.find_by_name(self._db, name.strip())
        if row is None:
            raise NotFoundError(NOT_FOUND, hint=_("No account has the user name “%(name)s”.", name=name.strip()))
        return f"u:{row['id']}"

    async def _author(self, project_id: int, run_id: int, *, network: bool) -> tuple[str, str | None]:
        row = await bar_statements.author(self._db, project_id, run_id)
        if row is None:
            raise NotFoundError(NOT_FOUND, hint=f"Answer {run_id} does not exist in this project.")
        if not network:
            return row.actor, row.user_ip
        if row.user_ip is None:
            raise InvalidValueError(
                _("Answer %(number)s is not anonymous. Block its volunteer instead.", number=run_id)
            )
        return f"n:{row.user_ip}", row.user_ip


async def _in_log(db: Database, project_id: int, subject: str) -> str:
    """How the audit log names somebody: never by the secret name of a cookie."""
    if not subject.startswith("c:"):
        return subject
    return f"anonymous:{await volunteer_statements.word_of(db, project_id, subject)}"
