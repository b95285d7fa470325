"""Snapshots of a project: asking for them, who may read them, and giving them out."""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Final

import attrs

from crowdd.core import log_statements
from crowdd.core.records import rights
from crowdd.core.records import statements as record_statements
from crowdd.database.access import Database, Transactions
from crowdd.features.exports.exports import Exports
from crowdd.features.exports.file_writer import Resources
from crowdd.features.media.store import MediaStore
from crowdd.features.projects import dataset
from crowdd.features.projects.ownership import complete_only
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.snapshots import statements, zip_stream
from crowdd.features.snapshots.differences import Difference, Differences, Side
from crowdd.features.snapshots.rows import SnapshotFile, SnapshotRow, SnapshotSchedule
from crowdd.features.snapshots.runner import Made, Report, SnapshotRunner
from crowdd.features.snapshots.verification import Verified, manifest_of, verify_stored
from crowdd.kernel.errors import NOT_FOUND, ConflictError, CrowddError, ForbiddenError, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.column_roles import hidden
from crowdd.sched.queue import Queue, QueuedTask

HANDLER: Final = "make_snapshot"
MAX_KEPT: Final = 100
"""Snapshots of a project."""
SCHEDULES: Final = ("", "week", "month")
_HASH: Final = re.compile("[0-9a-f]{64}")


@attrs.frozen
class GivenFile:
    """A file that somebody may have: ``pieces(begin, end)`` are bytes of it. ``etag`` has its quotes.

    Raises TooManyRequestsError when it is read.
    """

    name: str
    size: int
    etag: str
    pieces: Callable[[int, int], AsyncGenerator[bytes, None]] = attrs.field(repr=False)


@attrs.frozen(eq=False)
class Snapshots:
    """Those that take a row (``Projects.page``) raise NotFoundError, AnonymousError or ForbiddenError."""

    _db: Transactions
    _queue: Queue
    _exports: Exports
    _resources: Resources
    _store: MediaStore
    runner: SnapshotRunner
    _differences: Differences

    # Who may read them

    async def listed(self, who: Requester, row: ProjectPage) -> list[SnapshotRow]:
        """The snapshots that the requester may see, the newest first."""
        owns = rights.owns(row["roles"])
        if not owns:
            self._exports.require(who, row)
        snapshot_rows = await statements.list_snapshots(self._db, row["id"])
        return [each for each in snapshot_rows if owns or _is_open(row, each)]

    async def get(self, who: Requester, row: ProjectPage, hash_: str) -> SnapshotRow:
        """One that is made, by the hash of its content. What others may not see is not there for them."""
        owns = rights.owns(row["roles"])
        if not owns:
            self._exports.require(who, row)
        snapshot = (
            await statements.find_snapshot_by_hash(self._db, row["id"], hash_) if _HASH.fullmatch(hash_) else None
        )
        if snapshot is None or not (owns or _is_open(row, snapshot)):
            raise NotFoundError(NOT_FOUND)
        return snapshot

    # For everybody who may read them

    async def files(self, snapshot: SnapshotRow) -> list[SnapshotFile]:
        """The files of a snapshot, by their names."""
        return await statements.list_files(self._db, snapshot["id"])

    async def withdrawn(self, snapshot: SnapshotRow) -> list[str]:
        """Codes of volunteers who deleted their account since, and whose answers should not be used with the code."""
        return await statements.list_withdrawn_volunteers(self._db, snapshot["project_id"], snapshot["id"])

    async def file(self, who: Requester, row: ProjectPage, snapshot: SnapshotRow, name: str, network: str) -> GivenFile:
        """A file of a snapshot."""
        file = next((each for each in await self.files(snapshot) if each["name"] == name), None)
        if file is None:
            raise NotFoundError(NOT_FOUND)
        pieces = partial(zip_stream.read_part, self._store, file)
        return GivenFile(name, file["bytes"], f'"{file["sha256"][:40]}"', self._limited(who, row, network, pieces))

    async def archive(self, who: Requester, row: ProjectPage, snapshot: SnapshotRow, network: str) -> GivenFile:
        """All files as one ZIP archive."""
        name, files = f"{row['short_name']}-{str(snapshot['hash'])[:12]}", await self.files(snapshot)
        archive = await zip_stream.build_archive(self._store, files, name)
        tag = hashlib.sha256(f"{name} {[file['sha256'] for file in files]}".encode()).hexdigest()[:40]
        return GivenFile(f"{name}.zip", archive.size, f'"{tag}"', self._limited(who, row, network, archive.pieces))

    def _limited(
        self,
        who: Requester,
        row: ProjectPage,
        network: str,
        pieces: Callable[[int, int], AsyncGenerator[bytes, None]],
    ) -> Callable[[int, int], AsyncGenerator[bytes, None]]:
        """The pieces, while the requester has no more downloads than others may have."""
        own = rights.owns(row["roles"])

        async def limited(begin: int, end: int) -> AsyncGenerator[bytes, None]:
            with self._resources.limits.place(str(who.user_id) if own else network, own=own):
                parts = pieces(begin, end)
                try:
                    async for part in parts:
                        yield part
                finally:
                    await parts.aclose()

        return limited

    async def difference(self, before: SnapshotRow, after: SnapshotRow) -> Difference:
        """What differs between two snapshots of a project. Raises as ``Differences.of``."""
        sides = [Side(each, await self.files(each)) for each in (before, after)]
        withdrawn = {*await self.withdrawn(before), *await self.withdrawn(after)}
        return await self._differences.of(sides[0], sides[1], sorted(withdrawn))

    def difference_file(
        self, who: Requester, row: ProjectPage, difference: Difference, name: str, network: str
    ) -> GivenFile:
        """All changes, one JSON object per line."""
        pieces = self._limited(who, row, network, difference.pieces)
        return GivenFile(name, difference.path.stat().st_size, difference.etag, pieces)

    async def verify(self, snapshot: SnapshotRow) -> Verified:
        """Whether its files are what the manifest says."""
        return await verify_stored(self._store, await self.files(snapshot), str(snapshot["hash"]))

    async def audit_heads(self) -> AsyncGenerator[tuple[SnapshotRow, Values], None]:
        """The ends of the audit log that the manifests of all snapshots have, the oldest first.

        They are read from the files: who can change rows of the database cannot change these.
        """
        after = 0
        while (snapshot := await statements.find_next_made(self._db, after)) is not None:
            after = snapshot["id"]
            manifest = await manifest_of(self._store, await self.files(snapshot))
            if manifest is not None:
                yield snapshot, manifest.get("audit_log") or {}

    async def find(self, hash_: str) -> SnapshotRow:
        """A snapshot of any project by its hash, for the operator."""
        for project_id in await statements.list_projects_with_hash(self._db, hash_):
            snapshot = await statements.find_snapshot_by_hash(self._db, project_id, hash_)
            if snapshot is not None:
                return snapshot
        raise NotFoundError(f"There is no snapshot with the hash {hash_}.")

    # For owners

    async def one(self, who: Requester, project_id: int, snapshot_id: int) -> SnapshotRow:
        """A snapshot by its id, made or not."""
        await self._require(self._db, who, project_id)
        snapshot = await statements.find_snapshot(self._db, project_id, snapshot_id)
        if snapshot is None:
            raise NotFoundError(NOT_FOUND, hint=f"The project has no snapshot {snapshot_id}.")
        return snapshot

    async def add(self, who: Requester, project_id: int) -> SnapshotRow:
        """Has a snapshot made by a background task. Raises ConflictError while another one is being made."""
        await self._require(self._db, who, project_id)
        snapshot_id = await self._db.transaction(partial(self._add, who=who, project_id=project_id, queued=True))
        return await self.one(who, project_id, snapshot_id)

    async def _add(self, tx: Database, who: Requester, project_id: int, *, queued: bool) -> int:
        n, busy = await statements.lock_snapshots(tx, project_id)
        if busy:
            raise ConflictError(_("Another snapshot of this project is being made. Wait until it is done."))
        if n >= MAX_KEPT:
            raise ConflictError(_("A project keeps at most %(max)s snapshots. Delete one first.", max=MAX_KEPT))
        project = await statements.find_project(tx, project_id)
        if project is None:
            raise NotFoundError(NOT_FOUND)
        dataset.read(project.info)
        snapshot_id = await statements.insert_snapshot(tx, project_id, who.acting_user)
        if queued:
            item_id = await self._queue.add(tx, HANDLER, {"snapshot": snapshot_id}, who, project_id)
            await statements.set_snapshot_item(tx, snapshot_id, item_id)
        await log_statements.write_act(tx, who, "create", "snapshot", snapshot_id, project_id=project_id)
        return snapshot_id

    async def make_now(self, who: Requester, project_id: int, report: Report) -> Made:
        """Makes a snapshot at once. Raises as ``SnapshotRunner.make`` and ``add``."""
        await self._require(self._db, who, project_id)
        snapshot_id = await self._db.transaction(partial(self._add, who=who, project_id=project_id, queued=False))
        return await self._make(project_id, snapshot_id, who, report)

    async def carry_out(self, item: QueuedTask) -> dict[str, object]:
        """Makes the snapshot of a background task."""
        project_id, snapshot_id = int(item.project_id or 0), int(item.arguments["snapshot"])
        if item.who.acting_user is not None:  # otherwise the operator, or a schedule whose person has gone
            await self._require(self._db, item.who, project_id)
        snapshot = await statements.find_snapshot(self._db, project_id, snapshot_id)
        if snapshot is None:
            raise NotFoundError(_("The snapshot was deleted."))
        if snapshot["hash"] is not None:
            return {"hash": snapshot["hash"]}

        async def report(rows: int) -> None:
            await item.progress(max(rows, item.done))

        made = await self._make(project_id, snapshot_id, item.who, report)
        return {"hash": made.hash, "known": made.known}

    async def _make(self, project_id: int, snapshot_id: int, who: Requester, report: Report) -> Made:
        try:
            return await self.runner.make(project_id, snapshot_id, who, report)
        except (InvalidValueError, ForbiddenError) as error:
            await statements.set_snapshot_error(self._db, snapshot_id, str(error))
            raise

    async def set_public(self, who: Requester, snapshot: SnapshotRow, *, public: bool) -> None:
        """Lets others read a snapshot where they may read answers, or ends that."""
        await self._change(
            who, snapshot["project_id"], snapshot["id"],
            lambda tx: statements.set_snapshot_public(tx, snapshot["id"], public=public),
            "publish" if public else "hide",
        )  # fmt: skip

    async def delete(self, who: Requester, project_id: int, snapshot_id: int) -> None:
        """Deletes a snapshot with the files that no other one has. One that is being made ends."""
        snapshot = await self.one(who, project_id, snapshot_id)
        if snapshot["queue_item"] is not None and snapshot["state"] in ("waiting", "running"):
            await self._queue.cancel(who, snapshot["queue_item"])
        await self._change(
            who, project_id, snapshot_id, lambda tx: statements.delete_snapshot(tx, snapshot_id), "delete"
        )
        await self.runner.sweep(project_id)

    async def _change(
        self,
        who: Requester,
        project_id: int,
        snapshot_id: int,
        change: Callable[[Database], Awaitable[None]],
        action: str,
    ) -> None:
        async def work(tx: Database) -> None:
            await self._require(tx, who, project_id)
            await change(tx)
            await log_statements.write_act(tx, who, action, "snapshot", snapshot_id, project_id=project_id)

        await self._db.transaction(work)

    async def schedule(self, project_id: int) -> SnapshotSchedule | None:
        """How often snapshots are made; None: only when somebody asks."""
        return await statements.find_schedule(self._db, project_id)

    async def set_schedule(self, who: Requester, project_id: int, every: str) -> None:
        """Has a snapshot made each "week" or "month"; "" ends that. Raises InvalidValueError."""
        if every not in SCHEDULES:
            raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="every", choices="week, month"))
        await self._require(self._db, who, project_id)
        await statements.set_schedule(self._db, project_id, every, who.acting_user)

    async def start_due(self) -> int:
        """Starts the snapshots that are due by the schedules of projects. How many were started."""
        started = 0
        while (due := await statements.take_due_snapshot(self._db)) is not None:
            who = Requester(user_id=due.user_id, user_name=due.user_name, admin=due.admin, via="job")
            add = partial(self._add, who=who, project_id=due.project_id, queued=True)
            with suppress(CrowddError):  # it has too many, or one is being made: the next one is due later
                await self._db.transaction(add)
                started += 1
        return started

    async def _require(self, db: Database, who: Requester, project_id: int) -> None:
        roles = await record_statements.roles_to_project(db, project_id, who)
        if roles is None:
            raise NotFoundError(NOT_FOUND)
        rights.require_owner(who, roles)


def _is_open(row: ProjectPage, snapshot: SnapshotRow) -> bool:
    """Whether a snapshot may be read by those who may read the answers of its project.

    Not if it has what the project hides from them by now: answers to open tasks, or columns of tasks.
    """
    if snapshot["hash"] is None or not snapshot["public"]:
        return False
    if complete_only(row) and not snapshot["complete"]:
        return False
    was_hidden = snapshot["hidden_columns"]
    return hidden(row["info"]) <= set(was_hidden if isinstance(was_hidden, list) else [])
