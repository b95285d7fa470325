"""The queue: long work as rows that outlive the process that does it. ``crowdd.sched.queue_worker`` does what waits
here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from typing import Any, Protocol

import attrs

from crowdd.core.change_notifier import QUEUE
from crowdd.core.records import rights
from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.core.rows import ClaimedItem, QueueItem
from crowdd.database.access import Database
from crowdd.kernel.concurrency.timing import back_off
from crowdd.kernel.errors import (
    ConflictError,
    CrowddError,
    NotFoundError,
    StatementTimeoutError,
    StoppedError,
    TooManyRequestsError,
    UnavailableError,
)
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.roles import ADMINS, Role
from crowdd.sched import statements
from crowdd.sched.rows import QueueFilter

MAX_UNFINISHED, MAX_OF_OPERATOR = 100, 10_000
"""Items that may wait or run at a time: of one person, and of nobody in particular."""

KEPT_DAYS, DEAD_DAYS = 14, 90
"""How long an item is kept after its end, and a dead one."""

FIRST_PAUSE, MAX_PAUSE, PAUSE_GROWTH = 10.0, 3600.0, 3.0  # seconds, seconds, factor
_NOT_FOUND = "404 Not Found"


class StalledError(CrowddError):
    """A work said nothing for longer than it promised."""


# What may go away by itself; any other refusal of ours would only be repeated.
_PASSING = (UnavailableError, StatementTimeoutError, TooManyRequestsError, StalledError)


@attrs.define(eq=False)
class QueuedTask:
    """A background task that a worker has claimed. ``who`` requested it, with the rights that they have now.

    ``done``, ``total`` and ``checkpoint`` are what an earlier attempt left; a fresh item has 0, None and None.
    """

    id: int
    name: str
    arguments: Values
    who: Requester
    project_id: int | None
    done: int
    total: int | None
    checkpoint: Any
    attempt: int
    failures: int
    cancelled: bool
    email_addr: str | None  # of the requester
    _db: Database = attrs.field(repr=False)
    _notify: Callable[[], object] = attrs.field(repr=False)
    _told: Callable[[], object] = attrs.field(default=lambda: None, repr=False)
    stopping: bool = False  # the server ends: stop where you are

    async def progress(
        self, done: int, total: int | None = None, checkpoint: object = None, *, within: Database | None = None
    ) -> None:
        """Says how far the work is, out of how much; saves where it can go on, and shows that it is alive.

        Raises StoppedError, which the work lets pass, when it is to end. ``within`` is a transaction of the work: it
        and the checkpoint are then kept together or not at all, so that no part is ever done twice. The work itself
        then calls ``ChangeNotifier.notify`` after the commit.
        """
        row = await statements.save_progress(within or self._db, self.id, self.attempt, done, total, checkpoint)
        if row is None:
            raise StoppedError("lost")
        self.done, self.total, self.failures = done, total, row.failures
        self.checkpoint = self.checkpoint if checkpoint is None else checkpoint
        self._told()
        if within is None:
            self._notify()
        if row.cancel:
            raise StoppedError("cancelled")
        if self.stopping:
            raise StoppedError("ending")

    async def heartbeat(self) -> bool:
        """Shows that its process is alive; False when another worker has the item."""
        return await statements.prolong_item(self._db, self.id, self.attempt)

    def on_progress(self, callback: Callable[[], object]) -> None:
        """Has ``callback`` called at each progress."""
        self._told = callback


@attrs.frozen
class Outcome:
    """What becomes of an item: done, dead or cancelled, or waiting for ``pause`` seconds; ``failed`` if it did."""

    state: str
    error: str = ""
    pause: float = 0.0
    failed: bool = False
    result: object = None


def after_error(error: BaseException, failures: int, max_attempts: int) -> Outcome:
    """What becomes of an item whose attempt ended in an error; ``failures`` were before it, in a row."""
    if isinstance(error, StoppedError):
        return Outcome("cancelled") if error.reason == "cancelled" else Outcome("waiting")
    words = words_for(error)
    final = isinstance(error, CrowddError) and not isinstance(error, _PASSING)
    if final or failures + 1 >= max_attempts:
        return Outcome("dead", words)
    return Outcome("waiting", words, pause(failures), failed=True)


def pause(failures: int) -> float:
    """Seconds from a failure to the next attempt, when so many went before it in a row: 10, 30, 90 … an hour."""
    return back_off(failures + 1, FIRST_PAUSE, PAUSE_GROWTH, MAX_PAUSE)


def words_for(error: BaseException) -> str:
    """What the owner of an item may read of an error: the text of our own errors, only the name of others."""
    if isinstance(error, CrowddError):
        return (str(error) or "The file was refused.")[:1000]
    return f"{type(error).__name__}. See the server's log."


@attrs.frozen
class Pace:
    """How fast a running item goes: per second, and seconds to its end; None where nobody can tell."""

    rate: float | None = None
    eta: float | None = None


class Attempt(Protocol):
    """What is known of the last attempt of an item."""

    @property
    def state(self) -> str | None: ...
    @property
    def began(self) -> datetime | None: ...
    @property
    def progressed(self) -> datetime | None: ...
    @property
    def done(self) -> int: ...
    @property
    def done_before(self) -> int: ...
    @property
    def total(self) -> int | None: ...


def pace(row: Attempt) -> Pace:
    """From what its last attempt has done since it began."""
    if row.state != "running" or row.began is None or row.progressed is None:
        return Pace()
    seconds = (row.progressed - row.began).total_seconds()
    more = row.done - row.done_before
    if seconds <= 0 or more <= 0:
        return Pace()
    rate = more / seconds
    return Pace(rate, None if row.total is None else max(0, row.total - row.done) / rate)


class Queue:
    """Putting work in, and looking after it. ``notify`` is called with the project whose items have changed."""

    def __init__(self, db: Database, notify: Callable[[int], None]) -> None:
        self._db, self._notify = db, notify

    async def add(
        self, db: Database, name: str, arguments: Values, who: Requester, project_id: int | None = None
    ) -> int:
        """The id of a new item for the work ``name``; inside a transaction it waits for its
        commit.

        The caller checks rights. Raises TooManyRequestsError for an account that has many items already.
        """
        maximum = MAX_OF_OPERATOR if who.acting_user is None else MAX_UNFINISHED
        item_id = await statements.insert_item(db, name, arguments, who, project_id, maximum)
        if item_id is None:
            words = f"You already have {maximum} background tasks waiting."
            raise TooManyRequestsError(words, retry_after=60, code="queue_full", hint="Wait until some are done.")
        self._notify(QUEUE)
        return item_id

    async def claim(self, names: Collection[str], worker: str | None = None) -> QueuedTask | None:
        """The next item that is due, for a worker that can do work of these names; None when nothing is.

        ``worker`` is its name where ``sched.statements.hold_presence`` says that it is alive.
        """
        row = await statements.claim_item(self._db, list(names), worker)
        if row is None:
            return None
        self._changed(row.project_id)
        return _item(row, self._db, lambda: self._changed(row.project_id))

    async def record_outcome(self, item: QueuedTask, outcome: Outcome) -> bool:
        """Writes down what becomes of an item; False when it was not in our hands any more."""
        if outcome.state == "waiting":
            args = (outcome.pause, outcome.error, outcome.failed)
            ours = await statements.put_back_item(self._db, item.id, item.attempt, *args)
        else:
            ours = await statements.end_item(
                self._db, item.id, item.attempt, outcome.state, outcome.error, outcome.result
            )
        self._changed(item.project_id)
        return ours

    def _changed(self, project_id: int | None) -> None:
        if project_id is not None:
            self._notify(project_id)

    async def dead_letter_unknown(self, names: Collection[str], hours: int) -> int:
        """Ends items that have waited so long for a server that knows their work; returns how many."""
        return await statements.dead_letter_unknown(self._db, list(names), hours, "No worker handles this task type.")

    async def sweep(self) -> int:
        """Removes what ended long ago."""
        return await statements.sweep_items(self._db, KEPT_DAYS, DEAD_DAYS)

    # For those who wait

    async def _rows(self, who: Requester, wanted: QueueFilter) -> list[QueueItem]:
        rights.require(who, rights.of_requester(who), frozenset({Role.SIGNED_IN, Role.ADMIN}))
        place = Keyset(wanted.limit, before=wanted.before)
        return (await statements.list_queue(self._db, who, wanted, place)).rows

    async def page(self, who: Requester, place: Keyset, state: str | None = None) -> KeysetPage[QueueItem]:
        """A page of everybody's items, for administrators (``view`` says what programs get of them)."""
        rights.require(who, rights.of_requester(who), ADMINS)
        return await statements.list_queue(self._db, who, QueueFilter(everybodys=True, state=state), place)

    async def of_project(
        self, who: Requester, project_id: int, place: Keyset, state: str | None = None
    ) -> KeysetPage[QueueItem]:
        """A page of the items of a project, for its owners and administrators."""
        rights.require(who, rights.of_requester(who), frozenset({Role.SIGNED_IN, Role.ADMIN}))
        wanted = QueueFilter(everybodys=who.acting_admin, state=state, project_id=project_id)
        return await statements.list_queue(self._db, who, wanted, place)

    async def list_whole(self, who: Requester, wanted: QueueFilter) -> list[Values]:
        """The same with WHOLE in each."""
        return [view(row, whole=True) for row in await self._rows(who, wanted)]

    async def list(self, who: Requester, wanted: QueueFilter) -> list[Values]:
        """One's own items and those of one's projects, the newest first, as ``view`` shows them.

        Raises AnonymousError.
        """
        return [view(row) for row in await self._rows(who, wanted)]

    async def get(self, who: Requester, item_id: int, *, whole: bool = False) -> Values:
        """One item as ``view`` shows it. Raises NotFoundError, also for other people's."""
        return view(await self._seen(self._db, who, item_id), whole)

    async def cancel(self, who: Requester, item_id: int) -> Values:
        """Ends a waiting item at once; a running one is asked to stop, and its state says cancelled when it has.

        Raises ConflictError when it has ended already.
        """
        return await self._change(who, item_id, statements.cancel_item, "This background task has already ended.")

    async def retry(self, who: Requester, item_id: int) -> Values:
        """Lets a dead or cancelled item begin again, at its checkpoint. Raises ConflictError for others."""
        return await self._change(
            who, item_id, statements.retry_item, "Only failed or cancelled background tasks can be retried."
        )

    async def discard(self, who: Requester, item_id: int) -> Values:
        """Counts a dead item as cancelled: it was seen, and is no failure any more. Raises ConflictError for others."""
        return await self._change(
            who, item_id, statements.discard_item, "Only failed background tasks can be discarded."
        )

    async def _change(
        self, who: Requester, item_id: int, change: Callable[[Database, int], Awaitable[bool]], refusal: str
    ) -> Values:
        await self._seen(self._db, who, item_id)
        if not await change(self._db, item_id):
            raise ConflictError(refusal)
        row = await self._seen(self._db, who, item_id)
        self._changed(row.project_id)
        return view(row)

    async def _seen(self, db: Database, who: Requester, item_id: int) -> QueueItem:
        rights.require(who, rights.of_requester(who), frozenset({Role.SIGNED_IN, Role.ADMIN}))
        row = await statements.find_item(db, who, item_id)
        if row is None:
            raise NotFoundError(_NOT_FOUND)
        return row


STATES = ("waiting", "running", "done", "dead", "cancelled")
VIEW = (
    "id", "name", "project_id", "user_id", "state", "created", "due", "began", "ended", "attempt", "done", "total",
    "result", "error",
)  # fmt: skip
WHOLE = ("user_name", "via", "failures", "arguments", "checkpoint")


def view(row: QueueItem, whole: bool = False) -> Values:
    """What the owner of an item sees: VIEW, and ``cancelling``, ``rate`` (per second) and ``eta`` (seconds).

    The ``whole`` item has WHOLE too, which is between the work and the operator.
    """
    now = pace(row)
    cancelling = row.cancel and row.state == "running"
    names = VIEW + WHOLE if whole else VIEW
    shown = {name: getattr(row, name) for name in names}
    return shown | {"cancelling": cancelling, "rate": now.rate, "eta": now.eta}


def _item(row: ClaimedItem, db: Database, notify: Callable[[], object]) -> QueuedTask:
    who = Requester(
        user_id=row.user_id,
        user_name=row.user_name or "",
        fullname=row.fullname or "",
        admin=row.is_admin,
        locale=row.locale or "en",
        via="job",
    )
    return QueuedTask(
        id=row.id,
        name=row.name,
        arguments=row.arguments,
        who=who,
        project_id=row.project_id,
        done=row.done,
        total=row.total,
        checkpoint=row.checkpoint,
        attempt=row.attempt,
        failures=row.failures,
        cancelled=row.cancel or row.blocked,  # nothing is done for an account that has been blocked since
        email_addr=row.email_addr,
        db=db,
        notify=notify,
    )
