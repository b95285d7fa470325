"""Tasks that come as a file: brought, read against the project, added when the owner says so (``runner``)."""

from __future__ import annotations

import secrets as random
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO

import attrs

from crowdd.core.outbound.client import Outgoing, Response
from crowdd.core.quotas import Quota
from crowdd.core.records import rights
from crowdd.core.secrets import Secrets
from crowdd.core.site import Site
from crowdd.database.access import Database, Transactions
from crowdd.features.imports import exported_files, import_roles, import_rows, statements
from crowdd.features.imports import files as file_files
from crowdd.features.imports.files import Dialect
from crowdd.features.imports.import_roles import Choices
from crowdd.features.imports.prepared.preparing import Preparing
from crowdd.features.imports.prepared.process import discard
from crowdd.features.imports.progress import MAX_ATOMIC_ROWS, ImportState, state_of, undecided
from crowdd.features.imports.reader import printable
from crowdd.features.imports.rows import GoneTask, ImportRow, ListedImport, PendingImport, RefusedRow
from crowdd.features.imports.runner import ImportRunner, note_import
from crowdd.features.imports.share_links import download_address
from crowdd.features.imports.suggested_roles import suggest_roles
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.tasks.change_bodies import RetirementBody
from crowdd.features.tasks.changes import Changes, Effect
from crowdd.kernel import files as kernel_files
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import (
    NOT_FOUND,
    ConflictError,
    InvalidValueError,
    NotFoundError,
    TooLargeError,
    TooManyRequestsError,
)
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.roles import OWNERS
from crowdd.kinds.task import TASK
from crowdd.sched.queue import Queue, QueuedTask

HANDLER, CHECK = "import_tasks", "check_import"
MAX_PENDING = 20  # files of a project that wait for a word
MAX_PENDING_OF_ACCOUNT = 20  # files of one person that do, over all projects
MAX_AT_ONCE = 3  # files of one person that are copied or downloaded at a time
MAX_NAME = 2000  # characters of the name of a file, or of the address it came from
KEPT_DAYS, PENDING_DAYS = 14, 2
FETCH_SECONDS = 60.0
INLINE_BYTES, INLINE_ROWS = 300_000, 5000  # what is read while its owner waits; more is read in the background
MAX_GONE = 100_000  # tasks that a list of those gone from a file may have
_OK = 200
_A_DAY = 86_400.0


@attrs.frozen
class Begun:
    """``state`` of an import, the queue's item that works on it, and why it does not begin (a sentence)."""

    state: str
    item: int | None = None
    waits: str = ""


class ImportPage(ImportRow):
    """An import for its page: ``usual`` uses of its columns, whether it looks like an export, and what is left out.

    ``suggested`` are the likely roles of its columns.
    ``waits`` says what its owner has to decide; None: nothing.
    """

    usual: dict[str, str]
    suggested: dict[str, str]
    exportlike: bool
    left_behind: list[str]
    waits: str | None
    max_atomic_rows: int


class Imports:
    """Bringing tasks, for pages and command line alike. Files lie below ``folder`` until they are done."""

    def __init__(
        self,
        db: Transactions,
        notify: Callable[[int], None],
        queue: Queue,
        outgoing: Outgoing,
        worker_thread: WorkerThread,
        folder: Path,
        max_bytes: int,
        quota: Quota,
        secrets: Secrets,
        changes: Changes,
        site: Site,
    ) -> None:
        self._site = site
        self._db, self._queue, self._outgoing, self._worker_thread = db, queue, outgoing, worker_thread
        self._folder, self.max_bytes, self._changes = folder, max_bytes, changes
        preparing = Preparing(worker_thread, outgoing, max_bytes)
        self._runner = ImportRunner(db, notify, worker_thread, preparing, folder, quota, secrets)
        self._bringing: Counter[int | None] = Counter()  # files on their way, by person

    async def proposed_redundancy(self, row: ProjectPage) -> int:
        """The answers per task that a page proposes: those of the project's tasks, or the default of the site."""
        return await self._changes.proposed_answers(row, self._site.default_redundancy)

    async def bring(self, who: Requester, row: ProjectPage, name: str, source: BinaryIO, choices: Choices) -> int:
        """The id of a new import from an open file. A small one has been read; a large one is in the background.

        Raises InvalidValueError where nothing of it can be used, TooManyRequestsError when enough files of the project
        or the person wait already, or one of theirs is on its way.
        """
        rights.require(who, row["roles"], OWNERS)
        return await self._alone(who, row, partial(self._bring, who, row, name, source, choices))

    async def fetch(self, who: Requester, row: ProjectPage, url: str, choices: Choices) -> int:
        """The same from an address, or a link that shares a file.

        Raises RefusedTargetError, UnreachableError, InvalidValueError, TooLargeError.
        """
        rights.require(who, row["roles"], OWNERS)
        return await self._alone(who, row, partial(self._fetch, who, row, url, choices))

    async def _alone(self, who: Requester, row: ProjectPage, work: Callable[[], Awaitable[int]]) -> int:
        """The work, unless the limits are reached; they are looked at before anything is copied or asked for."""
        me = who.user_id
        if self._bringing[me] >= MAX_AT_ONCE:
            raise TooManyRequestsError(
                _("Your other files are still being read. Wait until one is done."), retry_after=10
            )
        self._bringing[me] += 1
        try:
            pending = await statements.pending(self._db, row["id"], me)
            if pending.project >= MAX_PENDING:
                raise _too_many(MAX_PENDING)
            if me is not None and pending.person + self._bringing[me] > MAX_PENDING_OF_ACCOUNT:
                raise _too_many(MAX_PENDING_OF_ACCOUNT)
            return await work()
        finally:
            self._bringing[me] -= 1
            self._bringing += Counter()  # keeps those above 0

    async def _bring(self, who: Requester, row: ProjectPage, name: str, source: BinaryIO, choices: Choices) -> int:
        path = self.new_file()
        await self._worker_thread.do(_copy, source, path)
        return await self._look(who, row, name, path, choices)

    async def _fetch(self, who: Requester, row: ProjectPage, url: str, choices: Choices) -> int:
        path = self.new_file()
        try:
            with path.open("wb") as file:
                reply = await self._outgoing.fetch(
                    download_address(url), seconds=FETCH_SECONDS, max_bytes=self.max_bytes, sink=file.write
                )
            self.require_whole(reply)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return await self._look(who, row, url, path, choices)

    def require_whole(self, reply: Response) -> None:
        """Raises InvalidValueError, TooLargeError for a reply that has no whole file."""
        if reply.status != _OK:
            raise InvalidValueError(_("The other server returned status %(status)s.", status=reply.status))
        if not reply.whole:
            raise TooLargeError(_("The file has more than %(maximum)s bytes.", maximum=f"{self.max_bytes:,}"))

    async def bring_file(self, who: Requester, project_id: int, name: str, path: Path, choices: Choices) -> int:
        """The id of a new import of a file that lies in the folder already, unread. Its caller has checked rights."""
        try:
            return await self._add(who, project_id, name, path, choices)
        except BaseException:
            discard(path)
            raise

    def new_file(self) -> Path:
        """Where a file of an import is to be written."""
        kernel_files.make_folder(self._folder, self._folder.parent)
        return self._folder / random.token_hex(16)

    async def _look(self, who: Requester, row: ProjectPage, name: str, path: Path, choices: Choices) -> int:
        """Keeps the file as an import, and has it read."""
        made = None
        try:
            made = await self._add(who, row["id"], name, path, choices)
            await self._read(who, row, made, large=path.stat().st_size > INLINE_BYTES)
            return made
        except BaseException:
            discard(path)
            if made is not None:
                await statements.forget(self._db, row["id"], made)
            raise

    async def _add(self, who: Requester, project_id: int, name: str, path: Path, choices: Choices) -> int:
        """A new import of a file with these choices, unread."""
        checked = import_roles.check_choices(choices)
        member = await self._worker_thread.do(import_rows.unpack_archive, path, self.max_bytes)
        detected = await self._worker_thread.do(file_files.detect, path)
        dialect = Dialect.from_json({**detected.to_json(), **(choices.dialect or {})})
        values = {
            "name": printable(f"{name}: {member}" if member else name, MAX_NAME),
            "format": dialect.format,
            "file": path.name,
            "bytes": path.stat().st_size,
            "dialect": dialect.to_json(),
            "on_error": choices.on_error or None,
            "auto": choices.begin,
            "again": bool(choices.again),
            "n_answers": TASK.field("n_answers").default,
        }
        made = await statements.add(self._db, project_id, who.user_id, values, MAX_PENDING)
        if made is None:
            raise _too_many(MAX_PENDING)
        try:
            await self._choose(project_id, made, checked, choices)
        except BaseException:
            await statements.forget(self._db, project_id, made)
            raise
        return made

    async def _read(self, who: Requester, row: ProjectPage, import_id: int, *, large: bool) -> None:
        """Has a file read: now, or in the background. Raises InvalidValueError where it was read and is no good."""
        import_row = await self._get(row, import_id)
        if large or not await self._runner.read(import_row, max_rows=INLINE_ROWS):
            await self._db.transaction(lambda tx: self._read_later(tx, who, import_row))
            return
        again = await self._get(row, import_id)
        if again["check_error"]:
            raise InvalidValueError(again["check_error"])

    async def _read_later(self, tx: Database, who: Requester, pending: PendingImport) -> int:
        name = HANDLER if pending["auto"] else CHECK
        item = await self._queue.add(tx, name, {"import": pending["id"]}, who, pending["project_id"])
        await statements.read_by(tx, pending["id"], item, pending["auto"])
        return item

    async def get(self, who: Requester, row: ProjectPage, import_id: int) -> ImportPage:
        """An import of a project. Raises NotFoundError."""
        rights.require(who, row["roles"], OWNERS)
        import_row = await self._get(row, import_id)
        return {
            **import_row,
            "usual": import_rows.default_uses(import_row["format"], import_row["columns"]),
            "suggested": suggest_roles(import_row["columns"], import_row["sample"]),
            "exportlike": any(
                kind not in ("", exported_files.TABLE)
                for kind in (import_row["kind"], exported_files.kind_of(import_row["columns"]))
            ),
            "left_behind": exported_files.left_behind(import_row["kind"], import_row["columns"]),
            "waits": undecided(import_row, import_row["on_error"]) if import_row["queue_item"] is None else None,
            "max_atomic_rows": MAX_ATOMIC_ROWS,
        }

    async def progress(self, row: ProjectPage, import_id: int) -> ImportState | None:
        """How far an import of a project is, for who has been found to own it; None when it has been removed."""
        progress_row = await statements.progress(self._db, row["id"], import_id) if import_id < 2**63 else None
        return None if progress_row is None else state_of(progress_row)

    async def _get(self, row: ProjectPage, import_id: int) -> ImportRow:
        import_row = await statements.get(self._db, row["id"], import_id) if import_id < 2**63 else None
        if import_row is None:
            raise NotFoundError(NOT_FOUND)
        return import_row

    async def newest(self, who: Requester, row: ProjectPage, maximum: int = 10) -> list[ListedImport]:
        """The newest imports of a project."""
        rights.require(who, row["roles"], OWNERS)
        return await statements.newest(self._db, row["id"], maximum)

    async def go_on(self, who: Requester, row: ProjectPage, import_id: int, choices: Choices | None = None) -> Begun:
        """Follows what the owner says of a file: reads it again by other choices, and begins when nothing is open.

        Raises InvalidValueError, NotFoundError, ForbiddenError, and ConflictError when it has begun already.
        """
        choices = choices or Choices()
        import_row = await self.get(who, row, import_id)
        if import_row["queue_item"] is not None:
            if import_row["preview"] is None:
                return Begun("reading", import_row["queue_item"])
            raise ConflictError(_("This import has already started."))
        changed = await self._choose(row["id"], import_id, import_roles.check_choices(choices), choices)
        if changed or import_row["state"] == "unread":
            await self._read(who, row, import_id, large=import_row["bytes"] > INLINE_BYTES)
        read = await self._get(row, import_id)
        if read["preview"] is None and not read["check_error"]:
            return Begun("reading", read["queue_item"] or read["check_item"])
        on_error = read["on_error"] if choices.on_error is None else choices.on_error or None
        waits = undecided(read, on_error)
        if changed and not choices.sure and read["preview"] != import_row["preview"]:
            waits = waits or _("Your choices changed the numbers. Check them, then continue.")
        if not choices.begin or waits is not None:
            return Begun(read["state"], waits=waits or "" if choices.begin else "")
        return await self._begin(who, row, import_id, on_error)

    async def _choose(self, project_id: int, import_id: int, checked: Values, choices: Choices) -> bool:
        """Writes down choices that differ from those that hold; whether the file has to be read by them."""

        async def work(tx: Database) -> bool:
            pending = await statements.lock_pending(tx, project_id, import_id)
            if pending is None:
                raise ConflictError(_("This import has already started."))
            now = statements.choices_of(pending)
            wanted: Values = {**now, **checked}
            if pending["columns"] and wanted["uses"] is not None:
                usual = import_rows.default_uses(pending["format"], pending["columns"])
                before = {name: use for name, use in (now["uses"] or {}).items() if name in usual}
                wanted["uses"] = import_rows.check_uses({**usual, **before, **wanted["uses"]}, pending["columns"])
                import_rows.require_key(wanted["key_name"], wanted["uses"])
            if choices.dialect is not None:
                wanted["dialect"] = Dialect.from_json({**(now["dialect"] or {}), **choices.dialect}).to_json()
                wanted["kind"] = checked.get("kind", "" if wanted["dialect"] != now["dialect"] else now["kind"])
            import_roles.require_no_key(wanted, pending)
            if choices.roles is not None:
                roles = import_roles.check_roles(choices.roles, pending["columns"])
                await statements.save_roles(tx, import_id, roles)
            if wanted == now:
                return False
            on_error = pending["on_error"] if choices.on_error is None else choices.on_error or None
            await statements.choose(tx, import_id, wanted, choices.begin and choices.sure, on_error)
            return True

        return await self._db.transaction(work)

    async def _begin(self, who: Requester, row: ProjectPage, import_id: int, on_error: str | None) -> Begun:
        async def work(tx: Database) -> int:
            pending = await statements.lock_pending(tx, row["id"], import_id)
            if pending is None or pending["preview"] is None:
                raise ConflictError(_("This import has already started."))
            rights.require(who, row["roles"], exported_files.importers(pending["kind"]))
            item = await self._queue.add(tx, HANDLER, {"import": import_id}, who, row["id"])
            await statements.begin(tx, import_id, on_error or "skip", item)
            await import_roles.write_roles(tx, pending)
            await note_import(tx, who, pending)
            return item

        return Begun("waiting", await self._db.transaction(work))

    async def forget(self, who: Requester, row: ProjectPage, import_id: int) -> None:
        """Drops a file that has not begun. Raises NotFoundError."""
        rights.require(who, row["roles"], OWNERS)
        file = await statements.forget(self._db, row["id"], import_id)
        if file is None:
            raise NotFoundError(NOT_FOUND)
        discard(self._folder / file)

    async def errors(
        self, who: Requester, row: ProjectPage, import_id: int, after: int, maximum: int
    ) -> list[RefusedRow]:
        """Refused rows of an import behind a line: line, reason, text."""
        await self.get(who, row, import_id)
        return await statements.errors(self._db, import_id, after, maximum)

    async def gone(self, who: Requester, row: ProjectPage, import_id: int) -> list[GoneTask]:
        """Tasks with a key that an import with a key column did not have: task_id, key, state, answers."""
        import_row = await self.get(who, row, import_id)
        if import_row["key_name"] is None or import_row["ended"] is None:
            return []
        return await statements.gone(self._db, row["id"], import_row["key_name"], import_id, 0, MAX_GONE)

    async def count_gone(self, who: Requester, row: ProjectPage, import_row: PendingImport) -> int:
        """How many there are."""
        if import_row["key_name"] is None or import_row["ended"] is None:
            return 0
        return await statements.count_gone(self._db, row["id"], import_row["key_name"], import_row["id"])

    async def retire_gone(self, who: Requester, row: ProjectPage, import_id: int) -> Effect:
        """Takes these tasks out. Answers stay."""
        import_row = await self.get(who, row, import_id)
        ids = [each["task_id"] for each in await self.gone(who, row, import_id)]
        if not ids:
            raise InvalidValueError(_("No tasks are missing from this file."))
        note = f"Missing from {import_row['name'] or 'the pasted rows'}"
        return await self._changes.retire_tasks(who, row["id"], RetirementBody(task_ids=ids, note=note))

    async def carry_on(self, item: QueuedTask) -> dict[str, object]:
        """Does what an item of the queue asks for, from where an earlier attempt came to."""
        return await self._runner.run(item)

    async def sweep(self, now: float) -> int:
        """Removes what is over: imports that ended long ago, files that nobody wants. ``now`` in epoch seconds."""
        gone = await statements.sweep(self._db, KEPT_DAYS, PENDING_DAYS)
        wanted = await statements.files(self._db)
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            if path.name.partition(".")[0] not in wanted and now - path.stat().st_mtime > _A_DAY:
                path.unlink(missing_ok=True)
        return gone


def _too_many(maximum: int) -> TooManyRequestsError:
    words = _("You already have %(maximum)s files waiting for review.", maximum=maximum)
    return TooManyRequestsError(words, retry_after=60, hint="Start or remove one of them.")


def _copy(source: BinaryIO, path: Path) -> None:
    source.seek(0)
    with path.open("wb") as target:
        shutil.copyfileobj(source, target)
