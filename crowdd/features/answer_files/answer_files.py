"""Files of answers: they come in parts, are prepared as owners' media are, and wait for an answer that names them.

Strangers send them. What one may send is decided before a byte is kept: they hold the task, the project wants files,
and neither they, their network, the project nor its owner has too many. A file that no answer names is deleted.
"""

from __future__ import annotations

import contextlib
import secrets as random
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

import attrs

from crowdd.core import statements as core_statements
from crowdd.core.quotas import HOUR_MINUTES, Attempts, Limit, Quota
from crowdd.core.records.records import Records
from crowdd.core.uploads import TYPES, container_of
from crowdd.database.access import Database, Transactions
from crowdd.features.answer_files import statements
from crowdd.features.answer_files.rows import OpenedFile, Room, SentFile
from crowdd.features.media.incoming_files import IncomingFiles, Part, WrongOffsetError
from crowdd.features.media.prepared import Choices, MediaPreparation, Prepared
from crowdd.features.media.store import OF_ANSWER, MediaStore
from crowdd.features.media.stores import fetch
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import (
    NOT_FOUND,
    ForbiddenError,
    InvalidValueError,
    MediaStoreError,
    NotFoundError,
    TooLargeError,
    TooManyRequestsError,
)
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import JsonObject, Values
from crowdd.kinds.answer_files import ANSWER_FILES, AT, FileRules, named_files, with_facts
from crowdd.kinds.roles import OWNERS, REVIEWERS, Role
from crowdd.kinds.task_run import TASK_RUN

KEPT_HOURS: Final = 24
"""For so long a file waits for an answer that names it."""
MAX_UNNAMED: Final = 20
"""Files of one volunteer in a project that no answer has named."""
MAX_UNNAMED_OF_NETWORK: Final = 200  # some classes
_PER_HOUR: Final = 200
_PER_HOUR_OF_NETWORK: Final = 2000
_SEEN_BY: Final = OWNERS | REVIEWERS | {Role.AUTHOR}
_SWEPT_AT_ONCE: Final = 500


@attrs.frozen
class Place:
    """What a file is for, and its sender's own name for it: the same name is the same file."""

    project_id: int
    task_id: int
    key: str


@attrs.frozen
class Arrival:
    """How many bytes of a file have come, and what an answer says of it once it is ready."""

    offset: int
    file: JsonObject | None = None


@attrs.frozen(eq=False)
class AnswerFiles:
    """Takes files of volunteers, makes them those of answers, and opens them for those who may see them."""

    _db: Transactions
    _records: Records
    _attempts: Attempts
    _quota: Quota
    _incoming: IncomingFiles
    _thread: WorkerThread
    _preparation: MediaPreparation
    _store: MediaStore

    # Files that come

    async def take(self, who: Requester, place: Place, size: int, part: Part) -> Arrival:
        """Add a part to a file of ``size`` bytes, and prepare the file when it is complete. The requester has the task.

        A part that does not begin at the end of the file is not added; the offset says where the file ends. Raises
        ForbiddenError, TooLargeError or TooManyRequestsError without room for the file, InvalidValueError for one that
        cannot be used, UnavailableError while it is being prepared, NotFoundError when the project has gone.
        """
        file = await statements.find_sent(self._db, who.actor, place.project_id, place.task_id, place.key)
        if file is None:
            file = await self._begin(who, place, size)
        if file.facts is not None:
            return Arrival(size, facts_of(file))
        if file.bytes != size:
            raise InvalidValueError("This key belongs to a file of another size.")
        try:
            offset = await self._thread.do(self._append, file, part)
        except WrongOffsetError as error:
            return Arrival(error.offset)
        return Arrival(offset, await self._prepared(file) if offset == size else None)

    def _append(self, file: SentFile, part: Part) -> int:
        self._incoming.begin(file.id)
        return self._incoming.append(file.id, part, file.bytes)

    async def _begin(self, who: Requester, place: Place, size: int) -> SentFile:
        rules = await self._rules(place.project_id)
        if size > rules.max_bytes:
            words = _("A file may have at most %(maximum)s bytes.", maximum=f"{rules.max_bytes:,}")
            raise TooLargeError(words, code="file_too_large")
        if size < 1:
            raise InvalidValueError(_("The file is empty."), code="bad_file")
        await self._attempts.count(
            Limit(f"answer_file:{who.network}", _PER_HOUR_OF_NETWORK, HOUR_MINUTES),
            Limit(f"answer_file:{who.actor}", _PER_HOUR, HOUR_MINUTES),
        )
        await self._quota.require_room(self._db, place.project_id)

        async def work(tx: Database) -> SentFile:
            await statements.hold_room(tx, place.project_id)
            before = await statements.find_sent(tx, who.actor, place.project_id, place.task_id, place.key)
            if before is not None:
                return before
            room = await statements.read_room(tx, who.actor, who.network, place.project_id)
            _require_room(rules, room, size)
            paths = [f"{container_of(place.project_id)}/{random.token_hex(20)}{OF_ANSWER}" for _nth in range(2)]
            names = (random.token_hex(20), paths[0], paths[1])
            made = await statements.add(tx, who, (place.project_id, place.task_id), place.key, size, names)
            if made is None:
                raise NotFoundError(NOT_FOUND)
            return made

        return await self._db.transaction(work)

    async def _rules(self, project_id: int) -> FileRules:
        accepted = await statements.read_accepted(self._db, project_id)
        if accepted is None:
            raise NotFoundError(NOT_FOUND)
        if accepted.declared is None and not accepted.asked:
            hint = f"Its owner can ask for files with a question, or set info.{ANSWER_FILES}."
            raise ForbiddenError(_("This project does not accept files."), code="no_files", hint=hint)
        return FileRules.of(accepted.declared)

    async def _prepared(self, file: SentFile) -> JsonObject:
        with ExitStack() as stack:
            folder = await self._thread.do(stack.enter_context, self._incoming.sole_folder(file.id))
            ready = await statements.find(self._db, file.id)  # another request may have been quicker
            if ready is None:
                raise NotFoundError(NOT_FOUND)
            if ready.facts is not None:
                return facts_of(ready)
            try:
                prepared = await self._preparation.prepare(self._incoming.path(file.id), folder, Choices())
                if prepared.kind == "document":
                    raise InvalidValueError(_("Send a picture, a sound or a video."))
            except InvalidValueError as error:
                await statements.remove(self._db, file.id)
                await self._thread.do(self._incoming.forget, file.id)
                raise InvalidValueError(error.args[0], code="bad_file") from None
            ready_file = await self._kept(file, prepared)
        await self._thread.do(self._incoming.forget, file.id)
        return facts_of(ready_file)

    async def _kept(self, file: SentFile, prepared: Prepared) -> SentFile:
        """Puts what was made into the store. NotFoundError: its project has gone meanwhile."""
        made = {each.role: each for each in prepared.files}
        shown, small = made["web"], made.get("thumbnail") if prepared.kind == "picture" else None
        written = [(file.path, shown), *([(str(file.thumbnail), small)] if small else [])]
        for path, each in written:
            await self._store.put(path, each.path, each.type)
        facts: JsonObject = {
            "kind": prepared.kind, "type": shown.type, "bytes": shown.bytes, "sha256": shown.sha256,
            **{name: value for name, value in (("width", shown.width), ("height", shown.height)) if value},
            **({"seconds": round(prepared.seconds, 2)} if prepared.seconds is not None else {}),
        }  # fmt: skip

        async def work(tx: Database) -> SentFile | None:
            finished = await statements.finish(tx, file.id, sum(each.bytes for _path, each in written), facts)
            if finished is not None:
                await core_statements.note_files(tx, [(path, each.bytes) for path, each in written], ())
            return finished

        finished_file = await self._db.transaction(work)
        if finished_file is None:
            await self._store.delete([path for path, _each in written])
            raise NotFoundError(NOT_FOUND)
        return finished_file

    # Files of answers

    async def described(
        self, who: Requester, project_id: int, task_id: int, info: object, run_id: int | None = None
    ) -> object:
        """An answer with what is known of the files that it names; ``run_id``: the answer that is changed.

        Raises InvalidValueError for a file that is not the volunteer's, TooLargeError for too many.
        """
        words = named_files(info)
        if not words:
            return info
        rules = await self._rules(project_id)
        if len(words) > rules.max_files:
            words_ = _("An answer may have at most %(maximum)s files.", maximum=rules.max_files)
            raise TooLargeError(words_, code="too_many_files")
        named = await statements.find_named(self._db, who.actor, (project_id, task_id, run_id), words)
        facts = {file.word: file.facts for file in named if file.facts is not None}
        if len(facts) < len(words):
            raise InvalidValueError(_("The answer names a file that is not there. Send it again."), code="unknown_file")
        return with_facts(info, facts)

    async def settle(self, tx: Database, project_id: int, run_id: int, info: object) -> None:
        """The files that an answer names are its files from now on; those that it named before and not now are deleted.

        Raises ForbiddenError when another answer has one of them.
        """
        words = named_files(info)
        if await statements.settle(tx, project_id, run_id, words) < len(words):
            raise ForbiddenError(_("A file of this answer belongs to another answer."), code="file_used")

    # Who sees them

    async def open(self, who: Requester, word: str) -> OpenedFile:
        """A file that the requester may see. Raises NotFoundError."""
        file = await statements.open_file(self._db, word, who.actor)
        if file is None or (file.run_id is None and not file.mine):
            raise NotFoundError(NOT_FOUND)
        if file.run_id is not None and not file.mine:
            run = await self._records.find(self._db, TASK_RUN, who, file.run_id)
            allowed = TASK_RUN.rights.get if FileRules.of(file.declared).shown else _SEEN_BY
            if not run["roles"] & allowed:
                raise NotFoundError(NOT_FOUND)
        return file

    # Files that go

    async def remove_of_person(self, user_id: int) -> int:
        """Removes the files of an account; how many."""
        return await statements.remove_of_person(self._db, user_id)

    async def copy_of_person(self, user_id: int, folder: Path) -> int:
        """Copies the files of an account into a folder, called ``file_`` and the end of their address; how many."""
        after = copied = 0
        while files := await statements.list_of_person(self._db, user_id, after, _SWEPT_AT_ONCE):
            for file in files:
                with contextlib.suppress(MediaStoreError):  # it was removed meanwhile
                    ending = next((each for each, type_ in TYPES.items() if type_ == file.type), "")
                    await fetch(self._store, file.path, folder / f"file_{file.word}{ending}")
                    copied += 1
            after = files[-1].id
        return copied

    async def sweep(self, now: float) -> int:
        """Removes files that no answer has named, and from the store those whose rows are gone; how many.

        ``now`` is in epoch seconds.
        """
        await statements.expire(self._db, KEPT_HOURS)
        old = partial(self._incoming.files, before=now - KEPT_HOURS * 3600)
        for file_id in await self._thread.do(old):
            await self._thread.do(self._incoming.forget, file_id)
        gone = 0
        while paths := await statements.list_dropped(self._db, _SWEPT_AT_ONCE):
            await self._store.delete(paths)
            await statements.forget_dropped(self._db, paths)
            gone += len(paths)
        return gone


def facts_of(file: SentFile) -> JsonObject:
    """What an answer says of a file."""
    return {"file": AT + file.word, **(file.facts or {})}


def _require_room(rules: FileRules, room: Room, size: int) -> None:
    if room.of_person >= MAX_UNNAMED or room.of_network >= MAX_UNNAMED_OF_NETWORK:
        words = _("You have sent many files without an answer. Send the answers first.")
        raise TooManyRequestsError(words, retry_after=60, code="uploads_full")
    if room.total_bytes + size > rules.total_bytes:
        values: Values = {"maximum": f"{rules.total_bytes // 1_000_000:,}"}
        words = _("This project takes %(maximum)s MB of files from volunteers, and has them already.", **values)
        raise ForbiddenError(words, code="files_full")
