"""What makes tasks of the files of a batch, one file after the other, in the background.

Each file is prepared and put into the media store; its row says so before it becomes a task. A task and the rows of its
files change in one transaction. After a kill the next attempt finds the rows as they were, so that no file becomes two
tasks, or none. Files that belong together by name become tasks when the batch is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import attrs

from crowdd.core import statements as core_statements
from crowdd.core.quotas import Quota
from crowdd.core.records import rights
from crowdd.core.records import statements as record_statements
from crowdd.database.access import Database, Transactions
from crowdd.features.batches import grouping, made_files, statements
from crowdd.features.batches.batch_state import unsettled
from crowdd.features.batches.grouping import clean_path, is_system_file
from crowdd.features.batches.made_files import (
    MadeFile,
    facts_of,
    keys_of,
    list_made_files,
    medium_of,
    pages_of,
    task_info_of,
)
from crowdd.features.batches.rows import Batch, MediaFile
from crowdd.features.imports.import_rows import new_task
from crowdd.features.media.incoming_files import IncomingFiles
from crowdd.features.media.prepared import Choices, MediaPreparation, Unpacked, is_archive
from crowdd.features.media.store import MediaNames, MediaStore
from crowdd.features.projects import statements as project_statements
from crowdd.features.tasks import statements as task_statements
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.config.data import MediaSettings, UploadSettings
from crowdd.kernel.errors import ForbiddenError, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.values import JsonObject
from crowdd.kinds.questions import QUESTIONS
from crowdd.kinds.questions.columns import question_columns
from crowdd.kinds.roles import OWNERS
from crowdd.sched.queue import QueuedTask

_REFUSALS = (InvalidValueError, ForbiddenError)
_FILES_AT_ONCE = 1000


@attrs.frozen(eq=False)
class BatchRunner:
    """Prepares the files of batches and makes tasks of them."""

    _db: Transactions
    _notify: Callable[[int], None]
    _incoming: IncomingFiles
    _thread: WorkerThread
    _preparation: MediaPreparation
    _store: MediaStore
    _names: MediaNames
    _quota: Quota
    _limits: UploadSettings

    @property
    def pictures(self) -> MediaSettings:
        """What pictures are made by."""
        return self._preparation.settings

    async def run(self, item: QueuedTask) -> dict[str, object]:
        """Does all that a batch has to do now. Raises NotFoundError, ForbiddenError when its owner is none any more."""
        batch = await self._batch(item)
        roles = await record_statements.roles_to_project(self._db, batch["project_id"], item.who)
        rights.require(item.who, roles or frozenset(), OWNERS)
        while not await self._ended(item):
            batch = await self._batch(item)
            waiting = await statements.files(self._db, batch["id"], 0, 1, ("waiting",))
            if waiting:
                await self._take(item, batch, waiting[0])
            else:
                await self._make_tasks(item, batch)
        figures = await statements.figures(self._db, batch["id"])
        self._notify(batch["project_id"])
        names = ("added", "present", "refused", "tasks")
        return {"batch": batch["id"], **{name: getattr(figures, name) for name in names}}

    async def _batch(self, item: QueuedTask) -> Batch:
        batch = await statements.get(self._db, int(item.project_id or 0), int(item.arguments["batch"]))
        if batch is None:
            raise NotFoundError("The batch has been removed.")
        return batch

    async def _ended(self, item: QueuedTask) -> bool:
        """Whether nothing is left to do; the next file that comes then begins another background task."""
        project_id, batch_id = int(item.project_id or 0), int(item.arguments["batch"])

        async def work(tx: Database) -> bool:
            batch = await statements.lock(tx, project_id, batch_id)
            if batch is None or batch["queue_item"] != item.id:
                return True
            states = unsettled(closed=batch["closed"] is not None)
            if await statements.has_any(tx, batch_id, states):
                return False
            await statements.work_with(tx, batch_id, None)
            return True

        return await self._db.transaction(work)

    # One file

    async def _take(self, item: QueuedTask, batch: Batch, file: MediaFile) -> None:
        """A file that has come is prepared, unpacked or refused."""
        try:
            await self._prepare(item, batch, file)
        except _REFUSALS as error:
            await self._settle(item, file, "refused", reason=made_files.reason_of_error(error))
        await self._thread.do(self._incoming.forget, file.id)
        self._notify(file.project_id)

    async def _prepare(self, item: QueuedTask, batch: Batch, file: MediaFile) -> None:
        await self._require_content(file)
        if is_archive(await self._thread.do_soon(self._incoming.beginning, file.id)):
            await self._unpack(item, batch, file)
            return
        digest = await self._thread.do(self._incoming.digest, file.id)
        task_id = await statements.task_of(self._db, file.project_id, digest)
        if batch["grouping"] == grouping.BY_FILE and task_id is not None:
            await self._settle(item, file, "present", digest=digest, task_id=task_id)
            return
        before = await statements.prepared_before(self._db, batch, digest)
        if before is not None:
            await self._settle(item, file, "prepared", digest=digest, prepared=before.prepared)
            return
        await self._prepare_new(item, batch, file, digest)

    async def _require_content(self, file: MediaFile) -> None:
        try:
            size = await self._thread.do_soon(self._incoming.offset, file.id)
        except NotFoundError:
            raise InvalidValueError(_("The file was lost on the server. Upload it again.")) from None
        if not size:
            raise InvalidValueError(_("The file is empty."))

    async def _prepare_new(self, item: QueuedTask, batch: Batch, file: MediaFile, digest: bytes) -> None:
        tiles = await statements.zooms_deeply(self._db, file.project_id)
        choices = Choices(batch["keep_original"], batch["keep_location"], tiles)
        with self._incoming.working_folder(file.id) as folder:
            prepared = await self._preparation.prepare(self._incoming.path(file.id), folder, choices)
            files = list_made_files(self._names, file.project_id, prepared)
            try:
                for each in files:
                    await self._store.put(each.key, each.path, each.type)
                if prepared.pages:
                    await self._split(item, file, files, pages_of(self._names, file, digest, prepared))
                else:
                    facts = facts_of(self._names, file.project_id, prepared)
                    await self._settle(item, file, "prepared", files, digest=digest, prepared=facts)
            except BaseException:
                await self._drop_unwanted(files)
                raise

    async def _drop_unwanted(self, files: Sequence[MadeFile]) -> None:
        """Removes what was put into the store in vain, unless another file has the same content."""
        wanted = await statements.noted(self._db, keys_of(files))
        await self._store.delete([key for key in keys_of(files) if key not in wanted])

    async def _settle(
        self, item: QueuedTask, file: MediaFile, state: str, files: Sequence[MadeFile] = (), **columns: object
    ) -> None:
        """Moves a waiting file on. Raises ForbiddenError when its ``files`` are too much for the quota."""

        async def work(tx: Database) -> None:
            await statements.lock(tx, file.project_id, file.batch_id)
            if await statements.settle(tx, file.id, ("waiting",), state, **columns):
                await self._keep(tx, item, file.batch_id, files)

        await self._db.transaction(work)

    async def _keep(self, tx: Database, item: QueuedTask, batch_id: int, files: Iterable[MadeFile] = ()) -> None:
        """The end of a transaction: files count for the quota, and the step for the progress."""
        await core_statements.note_files(tx, [(each.key, each.bytes) for each in files], ())
        batch = await statements.get(tx, int(item.project_id or 0), batch_id)
        left = batch["open_files"] if batch else 0
        await item.progress(item.done + 1, item.done + 1 + left, within=tx)
        await self._quota.require(tx, item.who)

    # Archives and documents

    async def _unpack(self, item: QueuedTask, batch: Batch, file: MediaFile) -> None:
        if file.parent_id is not None:
            raise InvalidValueError(_("An archive inside an archive is not unpacked. Unpack it first."))
        room = self._limits.max_batch_files - batch["n_files"]
        if room < 1:
            words = _(
                "A batch has at most %(maximum)s files. Start another one for the rest.",
                maximum=f"{self._limits.max_batch_files:,}",
            )
            raise InvalidValueError(words)
        with self._incoming.working_folder(file.id) as folder:
            unpacked = await self._preparation.unpack(
                self._incoming.path(file.id), folder, max_files=room, max_bytes=self._limits.max_file_bytes
            )
            members = [each for each in unpacked.members if not is_system_file(clean_path(each.name))]
            paths = [each.path for each in members]

            async def work(tx: Database) -> None:
                await statements.lock(tx, file.project_id, file.batch_id)
                if await statements.settle(tx, file.id, ("waiting",), "split"):
                    ids = await statements.add_parts(tx, file, _member_rows(file, unpacked))
                    await self._thread.do(_take_all, self._incoming, ids, paths)
                    await self._keep(tx, item, file.batch_id)

            await self._db.transaction(work)

    async def _split(
        self, item: QueuedTask, file: MediaFile, files: Sequence[MadeFile], pages: Sequence[JsonObject]
    ) -> None:
        """The pages of a document are files that are prepared."""

        async def work(tx: Database) -> None:
            await statements.lock(tx, file.project_id, file.batch_id)
            if await statements.settle(tx, file.id, ("waiting",), "split"):
                await statements.add_parts(tx, file, pages)
                await self._keep(tx, item, file.batch_id, files)

        await self._db.transaction(work)

    # Tasks

    async def _make_tasks(self, item: QueuedTask, batch: Batch) -> None:
        """Makes tasks of all files that are prepared, in the order of their names."""
        prepared_files: list[MediaFile] = []
        while more := await statements.files(
            self._db, batch["id"], prepared_files[-1].id if prepared_files else 0, _FILES_AT_ONCE, ("prepared",)
        ):
            prepared_files += [
                attrs.evolve(each, prepared=None, digest=None) for each in more
            ]  # ten thousand may be here
        # Several arrive at a time, so that their ids say little about their order.
        prepared_files.sort(key=lambda file: (grouping.by_name(file.path), file.page))
        for ids in task_files(prepared_files, batch["grouping"]):
            await self._become(item, batch, ids)
            self._notify(batch["project_id"])

    async def _become(self, item: QueuedTask, batch: Batch, ids: Sequence[int]) -> None:
        """Makes one task of those of the files that are prepared; they are refused if the quota does not allow it."""
        try:
            await self._db.transaction(lambda tx: self._add_task(tx, item, batch, ids))
        except ForbiddenError as error:
            reason = made_files.reason_of_error(error)
            await self._db.transaction(lambda tx: self._refuse(tx, item, batch, ids, reason))

    async def _add_task(self, tx: Database, item: QueuedTask, batch: Batch, ids: Sequence[int]) -> None:
        await task_statements.hold_imports(tx, batch["project_id"])
        await statements.lock(tx, batch["project_id"], batch["id"])
        by_id = {file.id: file for file in await statements.prepared_among(tx, ids)}
        new = await _new_among(tx, [by_id[each] for each in ids if each in by_id])
        if new:
            info = await project_statements.read_info(tx, batch["project_id"])
            media = [medium_of(file) for file in new]
            shown = task_info_of(media, question_columns(info.get(QUESTIONS)), batch["column_name"])
            made = await task_statements.insert_tasks(
                tx, batch["project_id"], [new_task(shown, {}, batch["n_answers"])]
            )
            for file in new:
                await statements.settle(tx, file.id, ("prepared",), "added", task_id=made[0])
        if by_id:
            await self._keep(tx, item, batch["id"])

    async def _refuse(
        self, tx: Database, item: QueuedTask, batch: Batch, ids: Sequence[int], reason: JsonObject
    ) -> None:
        await statements.lock(tx, batch["project_id"], batch["id"])
        for file in await statements.prepared_among(tx, ids):
            await statements.settle(tx, file.id, ("prepared",), "refused", reason=reason)
        await self._keep(tx, item, batch["id"])


def task_files(files: Sequence[MediaFile], by: str) -> list[list[int]]:
    """The ids of files for each task, in the order in which a task shows them."""
    if by == grouping.BY_FILE:
        return [[file.id] for file in files]
    groups: dict[str, list[MediaFile]] = {}
    for file in files:
        of_document = f"{file.parent_id}/" if file.page else ""
        groups.setdefault(of_document + grouping.key_of(file.path), []).append(file)
    return [[file.id for file in _in_order(members)] for members in groups.values()]


def _in_order(files: Sequence[MediaFile]) -> list[MediaFile]:
    if any(file.page for file in files):
        return sorted(files, key=lambda file: file.page)
    return grouping.in_order(files, lambda file: file.path)


async def _new_among(tx: Database, files: Sequence[MediaFile]) -> list[MediaFile]:
    """The files of a task, each content once; none if each is on a task already. The others are noted as present."""
    known = [await statements.task_of(tx, file.project_id, file.digest or b"") for file in files]
    contents: dict[bytes, MediaFile] = {}
    if None in known:
        for file in files:
            contents.setdefault(file.digest or b"", file)
    for file, task_id in zip(files, known, strict=True):
        if file not in contents.values():
            await statements.settle(tx, file.id, ("prepared",), "present", task_id=task_id)
    return list(contents.values())


def _member_rows(file: MediaFile, unpacked: Unpacked) -> list[JsonObject]:
    """Rows for the members of an archive: first those that wait, in their order, then those that were refused."""
    usual = {"page": 0, "bytes": 0, "reason": None, "digest": None, "prepared": None}
    waiting_members = [each for each in unpacked.members if not is_system_file(clean_path(each.name))]
    rows: list[JsonObject] = [
        {**usual, "name": each.name, "bytes": each.bytes, "state": "waiting"} for each in waiting_members
    ]
    rows += [
        {**usual, "name": each.name, "state": "refused", "reason": made_files.encode_reason(each.reason)}
        for each in unpacked.refused
    ]
    named = ((number, row, row.pop("name")) for number, row in enumerate(rows, 1))
    return [{**row, "path": clean_path(str(name)), "key": f"{file.id}/{number}"} for number, row, name in named]


def _take_all(incoming: IncomingFiles, ids: Sequence[int], paths: Sequence[Path]) -> None:
    for file_id, path in zip(ids, paths, strict=False):  # the ids behind them are of refused members, without a file
        incoming.take(file_id, path)
