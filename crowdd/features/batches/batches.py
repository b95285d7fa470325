"""Bringing media: batches of files that come in parts, for pages and command line alike. ``runner`` makes the tasks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import attrs

from crowdd.core import log_statements
from crowdd.core.records import rights
from crowdd.core.site import Site
from crowdd.database.access import Database, Transactions
from crowdd.features.batches import grouping, statements
from crowdd.features.batches.batch_state import BatchState, state_of, unsettled
from crowdd.features.batches.grouping import clean_path, is_system_file
from crowdd.features.batches.made_files import MAX_COLUMN
from crowdd.features.batches.room import Demand, refusal
from crowdd.features.batches.rows import Batch, BatchChoices, ListedBatch, MediaFile
from crowdd.features.batches.runner import BatchRunner
from crowdd.features.media.incoming_files import IncomingFiles, Part
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.tasks.changes import Changes
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.config.data import MediaSettings, UploadSettings
from crowdd.kernel.config.limits import QuotaSettings
from crowdd.kernel.errors import NOT_FOUND, ConflictError, InvalidValueError, NotFoundError, TooManyRequestsError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kinds.questions import QUESTIONS
from crowdd.kinds.questions.columns import question_columns
from crowdd.kinds.roles import OWNERS
from crowdd.kinds.task import TASK
from crowdd.sched.queue import Queue, QueuedTask

HANDLER = "prepare_media"
MAX_OPEN_BATCHES = 50
IDLE_DAYS = 3  # after which a batch takes no further files
MAX_KEY = 190  # characters
SHOWN_GROUPS = 5
_FILES_AT_ONCE = 1000
_GRACE_SECONDS = 3600.0  # a file that is younger may belong to a transaction under way


@attrs.frozen
class BatchPlan:
    """What would become of files by their names: the number of tasks with each grouping, and some larger groups."""

    files: int
    left_out: list[str]
    tasks_by_file: int
    tasks_by_name: int
    groups: dict[str, list[str]]


@attrs.frozen(eq=False)
class Batches:
    """Batches of media and their files."""

    _db: Transactions
    _notify: Callable[[int], None]
    _queue: Queue
    _incoming: IncomingFiles
    _thread: WorkerThread
    limits: UploadSettings
    _quota: QuotaSettings
    _runner: BatchRunner
    _changes: Changes
    _site: Site

    @property
    def pictures(self) -> MediaSettings:
        """What pictures are made by."""
        return self._runner.pictures

    async def proposed_redundancy(self, row: ProjectPage) -> int:
        """The answers per task that a page proposes."""
        return await self._changes.proposed_answers(row, self._site.default_redundancy)

    # Batches

    async def begin(self, who: Requester, row: ProjectPage, choices: Mapping[str, object]) -> int:
        """The id of a new batch. Raises InvalidValueError for a choice that is none, TooManyRequestsError."""
        rights.require(who, row["roles"], OWNERS)
        chosen = checked_choices(choices, await self.proposed_redundancy(row))

        async def work(tx: Database) -> int | None:
            made = await statements.add(tx, row["id"], who.user_id, chosen, MAX_OPEN_BATCHES)
            if made is not None:
                after = {"media_batch": made, **chosen}
                await log_statements.write_act(
                    tx, who, "import", "project", row["id"], project_id=row["id"], after=after
                )
            return made

        made = await self._db.transaction(work)
        if made is None:
            words = _(
                "%(count)s batches of this project are still waiting for files. Finish one of them.",
                count=MAX_OPEN_BATCHES,
            )
            raise TooManyRequestsError(words, retry_after=60)
        return made

    async def begin_or_go_on(self, who: Requester, row: ProjectPage, choices: Mapping[str, object]) -> int:
        """The same, unless the requester has a batch with these choices that still takes files."""
        rights.require(who, row["roles"], OWNERS)
        chosen = checked_choices(choices, await self.proposed_redundancy(row))
        batch_id = await statements.open_like(self._db, row["id"], who.user_id, chosen)
        return batch_id or await self.begin(who, row, choices)

    async def get(self, who: Requester, row: ProjectPage, batch_id: int) -> Batch:
        """A batch of a project. Raises NotFoundError."""
        rights.require(who, row["roles"], OWNERS)
        batch = await statements.get(self._db, row["id"], batch_id) if batch_id < 2**63 else None
        return _existing(batch)

    async def newest(self, who: Requester, row: ProjectPage, maximum: int = 10) -> list[ListedBatch]:
        """The newest batches of a project."""
        rights.require(who, row["roles"], OWNERS)
        return await statements.newest(self._db, row["id"], maximum)

    async def progress(self, row: ProjectPage, batch_id: int) -> BatchState | None:
        """How far a batch of a project is, for who has been found to own it; None when it has been removed."""
        progress_row = await statements.progress(self._db, row["id"], batch_id) if batch_id < 2**63 else None
        return None if progress_row is None else state_of(await statements.figures(self._db, batch_id), progress_row)

    async def files(
        self, who: Requester, row: ProjectPage, batch_id: int, after: int = 0, maximum: int = _FILES_AT_ONCE,
        states: Sequence[str] | None = None,
    ) -> list[MediaFile]:  # fmt: skip
        """Files of a batch behind an id. Raises NotFoundError."""
        batch = await self.get(who, row, batch_id)
        return await self.contents(batch, after, maximum, states)

    async def contents(
        self, batch: Batch, after: int, maximum: int, states: Sequence[str] | None = None
    ) -> list[MediaFile]:
        """The same of a batch that ``get`` gave."""
        return await statements.files(self._db, batch["id"], after, min(maximum, _FILES_AT_ONCE), states)

    async def close(self, who: Requester, row: ProjectPage, batch_id: int) -> None:
        """Says that no further file comes. Files that have not arrived completely are left out."""
        await self.get(who, row, batch_id)
        arriving = await statements.files(self._db, batch_id, 0, self.limits.max_batch_files, ("arriving",))
        for file in arriving:
            await self._complete(who, file)

        async def work(tx: Database) -> list[int]:
            batch = _existing(await statements.lock(tx, row["id"], batch_id))
            gone = await statements.remove_arriving(tx, batch_id)
            await statements.close(tx, batch_id)
            await self._have_prepared(tx, who, batch)
            return gone

        await self._forget(await self._db.transaction(work))
        self._notify(row["id"])

    async def resume(self, who: Requester, row: ProjectPage, batch_id: int) -> None:
        """Has the files prepared that wait, after the background task was stopped or failed."""
        await self.get(who, row, batch_id)

        async def work(tx: Database) -> None:
            await self._have_prepared(tx, who, _existing(await statements.lock(tx, row["id"], batch_id)))

        await self._db.transaction(work)
        self._notify(row["id"])

    async def discard(self, who: Requester, row: ProjectPage, batch_id: int) -> int:
        """Leaves out all files that have not become tasks, and takes no further ones; how many."""
        await self.get(who, row, batch_id)

        async def work(tx: Database) -> list[int]:
            _existing(await statements.lock(tx, row["id"], batch_id))
            await statements.close(tx, batch_id)
            return await statements.remove_open(tx, batch_id)

        gone = await self._db.transaction(work)
        await self._forget(gone)
        self._notify(row["id"])
        return len(gone)

    async def _have_prepared(self, tx: Database, who: Requester, batch: Batch) -> None:
        """Begins the background task of a locked batch, unless it is under way or has nothing to do."""
        closed = await statements.is_closed(tx, batch["id"])
        states = unsettled(closed=closed)
        if batch["work_state"] in ("waiting", "running") or not await statements.has_any(tx, batch["id"], states):
            return
        item = await self._queue.add(tx, HANDLER, {"batch": batch["id"]}, who, batch["project_id"])
        await statements.work_with(tx, batch["id"], item)

    # Files

    async def plan(self, who: Requester, row: ProjectPage, names: Sequence[str]) -> BatchPlan:
        """What would become of files with these names. Raises InvalidValueError for too many."""
        rights.require(who, row["roles"], OWNERS)
        if len(names) > self.limits.max_batch_files:
            words = _("A batch has at most %(maximum)s files.", maximum=f"{self.limits.max_batch_files:,}")
            raise InvalidValueError(words)
        return await self._thread.do_soon(plan, names)

    async def create(
        self, who: Requester, row: ProjectPage, batch_id: int, name: str, size: int, key: str
    ) -> MediaFile:
        """A file of a batch that is to arrive: the one of this ``key``, or a new one.

        Raises NotFoundError, ConflictError for a closed batch, InvalidValueError for a name or a key that cannot be,
        ForbiddenError, TooLargeError or TooManyRequestsError without room for it.
        """
        rights.require(who, row["roles"], OWNERS)
        path = clean_path(name)
        if is_system_file(path):
            raise InvalidValueError(_("This is a system file. Leave it out."), code="system_file")
        values = {"path": path, "key": _checked_key(key, path, size), "bytes": size}

        async def work(tx: Database) -> MediaFile:
            await statements.hold_room(tx)
            batch = _existing(await statements.lock(tx, row["id"], batch_id) if batch_id < 2**63 else None)
            before = await statements.file_by_key(tx, batch_id, str(values["key"]))
            if before is not None:
                return before
            if batch["closed"]:
                raise ConflictError(_("This batch takes no further files. Start another one."), code="batch_closed")
            await self._require_room(tx, who, batch, size)
            made = await statements.add_file(tx, batch, values, self.limits.expire_hours)
            assert made is not None  # the batch is locked
            return made

        file = await self._db.transaction(work)
        if file.state == "arriving":
            await self._thread.do(self._incoming.begin, file.id)
            if not size:
                await self._arrived(who, file)
        return file

    async def _require_room(self, tx: Database, who: Requester, batch: Batch, size: int) -> None:
        demand = Demand(size, batch["n_files"] + 1, exempt=who.acting_admin or who.via == "cli")
        open_ = await statements.unfinished(tx, batch["project_id"], who.user_id)
        totals = await statements.totals(tx, batch["project_id"])
        error = refusal(self.limits, self._quota.max_bytes, demand, open_, totals)
        if error is not None:
            raise error

    async def file(self, who: Requester, row: ProjectPage, batch_id: int, file_id: int) -> MediaFile:
        """A file of a batch of the project. Raises NotFoundError."""
        rights.require(who, row["roles"], OWNERS)
        media_file = (
            await statements.file_of(self._db, row["id"], batch_id, file_id) if max(batch_id, file_id) < 2**63 else None
        )
        if media_file is None:
            raise NotFoundError(NOT_FOUND)
        return media_file

    async def offset(self, who: Requester, file: MediaFile) -> int:
        """How many bytes of a file have come. Raises NotFoundError where they are lost."""
        if file.state != "arriving":
            return file.n_bytes
        offset = await self._thread.do_soon(self._incoming.offset, file.id)
        if offset == file.n_bytes:
            await self._arrived(who, file)
        return offset

    async def append(self, who: Requester, file: MediaFile, part: Part) -> int:
        """Appends a part to a file and says how many bytes have come (see ``IncomingFiles.append``).

        A file that has come completely waits to be prepared from then on.
        """
        if file.state != "arriving":
            raise ConflictError(_("This file has already been uploaded."), code="upload_complete")
        offset = await self._thread.do(self._incoming.append, file.id, part, file.n_bytes)
        if offset == file.n_bytes:
            await self._arrived(who, file)
        else:
            await statements.keep_alive(self._db, file.id, self.limits.expire_hours)
        return offset

    async def _arrived(self, who: Requester, file: MediaFile) -> None:
        async def work(tx: Database) -> None:
            batch = _existing(await statements.lock(tx, file.project_id, file.batch_id))
            if await statements.settle(tx, file.id, ("arriving",), "waiting"):
                await self._have_prepared(tx, who, batch)

        await self._db.transaction(work)
        self._notify(file.project_id)

    async def _complete(self, who: Requester, file: MediaFile) -> bool:
        """Notes that a file has come whole where the server ended before it could; whether it has."""
        try:
            return await self.offset(who, file) == file.n_bytes
        except NotFoundError:
            return False

    async def remove(self, file: MediaFile) -> None:
        """Removes a file that is arriving. Raises ConflictError for one that has arrived."""

        async def work(tx: Database) -> bool:
            _existing(await statements.lock(tx, file.project_id, file.batch_id))
            return await statements.remove_file(tx, file.id)

        if not await self._db.transaction(work):
            raise ConflictError(_("This file has already been uploaded."), code="upload_complete")
        await self._forget([file.id])
        self._notify(file.project_id)

    async def _forget(self, ids: Sequence[int]) -> None:
        await self._thread.do(_forget_all, self._incoming, ids)

    # In the background

    async def carry_on(self, item: QueuedTask) -> dict[str, object]:
        """Prepares the files of a batch that have come."""
        return await self._runner.run(item)

    async def sweep(self, now: float) -> int:
        """Removes files that did not arrive in time, closes batches that nobody brings files to; how many. ``now`` in
        epoch seconds.
        """
        gone = await statements.expire(self._db)
        await statements.remove_empty(self._db, IDLE_DAYS)
        for project_id, _batch in await statements.close_idle(self._db, IDLE_DAYS):
            self._notify(project_id)
        stored_ids = await self._thread.do(partial(self._incoming.files, before=now - _GRACE_SECONDS))
        for begin in range(0, len(stored_ids), _FILES_AT_ONCE):
            ids = stored_ids[begin : begin + _FILES_AT_ONCE]
            wanted = await statements.open_among(self._db, ids)
            await self._forget([each for each in ids if each not in wanted])
        return gone


def plan(names: Sequence[str]) -> BatchPlan:
    """What becomes of files by their names alone."""
    paths = [clean_path(name) for name in names]
    media_paths = [path for path in paths if not is_system_file(path)]
    groups = grouping.group_paths(media_paths)
    several = {name: files for name, files in groups.items() if len(files) > 1}
    shown = dict(list(several.items())[:SHOWN_GROUPS])
    return BatchPlan(
        len(media_paths), [path for path in paths if is_system_file(path)], len(media_paths), len(groups), shown
    )


def checked_choices(choices: Mapping[str, object], n_answers: int) -> BatchChoices:
    """The choices for a batch: ``grouping``, ``column``, ``keep_location``, ``keep_original``, ``n_answers``.

    Raises InvalidValueError.
    """
    chosen = str(choices.get("grouping") or grouping.BY_FILE)
    if chosen not in grouping.GROUPINGS:
        names = ", ".join(grouping.GROUPINGS)
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="grouping", choices=names))
    column = str(choices.get("column") or "").strip()
    if len(column) > MAX_COLUMN or not column.isprintable():
        raise InvalidValueError(_("The name of a column has at most %(maximum)s characters.", maximum=MAX_COLUMN))
    wanted = choices.get("n_answers")
    try:
        answers = n_answers if wanted in (None, "") else TASK.field("n_answers").parse(wanted)
    except InvalidValueError as error:
        raise InvalidValueError(f"n_answers {error}.") from None
    return {
        "grouping": chosen,
        "column_name": column,
        "keep_location": bool(choices.get("keep_location")),
        "keep_original": bool(choices.get("keep_original")),
        "n_answers": int(answers),
    }


def columns_of(row: ProjectPage) -> dict[str, list[str]]:
    """The columns that the media of a project's questions read, by kind."""
    return question_columns((row["info"] or {}).get(QUESTIONS))


def _checked_key(key: str, path: str, size: int) -> str:
    """What tells a file from others of its batch, where its client does not say so: its path and size."""
    if len(key) > MAX_KEY or not (key.isascii() and key.isprintable()):
        raise InvalidValueError(_("The key of a file has at most %(maximum)s ASCII characters.", maximum=MAX_KEY))
    return f"={key}" if key else f"{size}-{hashlib.sha256(path.encode()).hexdigest()}"


def _existing(batch: Batch | None) -> Batch:
    if batch is None:
        raise NotFoundError(NOT_FOUND)
    return batch


def _forget_all(incoming: IncomingFiles, ids: Sequence[int]) -> None:
    for file_id in ids:
        incoming.forget(file_id)
