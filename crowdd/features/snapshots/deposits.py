"""Deposits of snapshots in a repository: asked for by owners, carried out by a background task that can go on."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Final

import attrs

from crowdd.core import log_statements
from crowdd.core.outbound.client import Outgoing
from crowdd.core.secrets import Secrets, place
from crowdd.database.access import Database, Transactions
from crowdd.features.media.store import MediaStore
from crowdd.features.snapshots import statements, zip_stream
from crowdd.features.snapshots.repository import Deposition, Repository, metadata, require_citable
from crowdd.features.snapshots.rows import DepositRow, DepositWork, SnapshotFile, SnapshotRow
from crowdd.features.snapshots.snapshots import Snapshots
from crowdd.kernel.errors import NOT_FOUND, ConflictError, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.sched.queue import Queue, QueuedTask

HANDLER: Final = "deposit_snapshot"
MAX_TOKEN: Final = 500  # characters
MAX_URL: Final = 300
Report = Callable[[int, int], Awaitable[None]]
"""Gets how many files are in the repository, and of how many; raises StoppedError when the work is to end."""


@attrs.frozen
class Destination:
    """The repository at ``url``. Nothing is published there unless ``publish``."""

    url: str
    token: str = attrs.field(repr=False)
    publish: bool


@attrs.frozen
class Deposits:
    """The requester must be an owner of the project, or administrator: otherwise NotFoundError, ForbiddenError or
    AnonymousError.
    """

    _db: Transactions
    _queue: Queue
    _snapshots: Snapshots
    _store: MediaStore
    _outgoing: Outgoing
    _secrets: Secrets
    _base_url: str

    async def of(self, who: Requester, project_id: int, snapshot_id: int) -> DepositRow:
        """The deposit of a snapshot. NotFoundError if there is none."""
        deposit = await self.find(who, project_id, snapshot_id)
        if deposit is None:
            raise NotFoundError(NOT_FOUND, hint="The snapshot has no deposit.")
        return deposit

    async def find(self, who: Requester, project_id: int, snapshot_id: int) -> DepositRow | None:
        """The same, or None."""
        await self._snapshots.one(who, project_id, snapshot_id)
        return await statements.find_deposit(self._db, snapshot_id)

    async def add(
        self, who: Requester, project_id: int, snapshot_id: int, destination: Destination, *, queued: bool = True
    ) -> DepositRow:
        """Has a snapshot deposited by a background task.

        Raises ConflictError if it has a deposit or is not made, InvalidValueError, RefusedTargetError.
        """
        snapshot = await self._snapshots.one(who, project_id, snapshot_id)
        address, word = self._checked(snapshot, destination.url), _token(destination.token)
        publish = destination.publish

        async def work(tx: Database) -> None:
            deposit_id = await statements.insert_deposit(tx, snapshot_id, who.acting_user, address, publish=publish)
            if deposit_id is None:
                raise ConflictError(_("The snapshot has been deposited before. Remove that deposit first."))
            await statements.set_deposit_token(tx, deposit_id, self._secrets.encrypt(word, _place(deposit_id)))
            await self._begin(tx, who, project_id, deposit_id, publish=publish, queued=queued)
            await log_statements.write_act(tx, who, "deposit", "snapshot", snapshot_id, project_id=project_id)

        await self._db.transaction(work)
        return await self.of(who, project_id, snapshot_id)

    async def now(
        self, who: Requester, project_id: int, snapshot_id: int, destination: Destination, report: Report
    ) -> DepositRow:
        """Deposits a snapshot at once, or goes on with a deposit at this site. Raises as ``add`` and ``work``."""
        deposit = await self.find(who, project_id, snapshot_id)
        if deposit is None:
            deposit = await self.add(who, project_id, snapshot_id, destination, queued=False)
        elif deposit["state"] in ("waiting", "running", "published") or deposit["url"] != _address(destination.url):
            raise ConflictError(_("The snapshot has been deposited before. Remove that deposit first."))
        else:
            encrypted = self._secrets.encrypt(_token(destination.token), _place(deposit["id"]))
            await statements.set_deposit_token(self._db, deposit["id"], encrypted)
            await statements.begin_deposit(self._db, deposit["id"], None, publish=destination.publish)
        await self.work(who, project_id, deposit["id"], report)
        return await self.of(who, project_id, snapshot_id)

    async def go_on(self, who: Requester, project_id: int, snapshot_id: int, *, publish: bool) -> DepositRow:
        """Works on a deposit again that failed, or publishes one that is uploaded.

        Raises ConflictError while it is worked on, and once it is published.
        """
        deposit = await self.of(who, project_id, snapshot_id)
        if deposit["state"] in ("waiting", "running", "published"):
            raise ConflictError(_("The deposit is published already, or is being worked on."))

        async def work(tx: Database) -> None:
            await self._begin(tx, who, project_id, deposit["id"], publish=publish or deposit["publish"], queued=True)
            action = "publish_deposit" if publish else "deposit"
            await log_statements.write_act(tx, who, action, "snapshot", snapshot_id, project_id=project_id)

        await self._db.transaction(work)
        return await self.of(who, project_id, snapshot_id)

    async def delete(self, who: Requester, project_id: int, snapshot_id: int) -> None:
        """Forgets a deposit and its token. What the repository has stays there."""
        deposit = await self.of(who, project_id, snapshot_id)
        if deposit["queue_item"] is not None and deposit["state"] in ("waiting", "running"):
            await self._queue.cancel(who, deposit["queue_item"])

        async def work(tx: Database) -> None:
            await statements.delete_deposit(tx, deposit["id"])
            await log_statements.write_act(tx, who, "forget_deposit", "snapshot", snapshot_id, project_id=project_id)

        await self._db.transaction(work)

    async def carry_out(self, item: QueuedTask) -> dict[str, object]:
        """Works on the deposit of a background task."""
        deposit_id = int(item.arguments["deposit"])

        async def report(done: int, total: int) -> None:
            await item.progress(max(done, item.done), total)

        return await self.work(item.who, int(item.project_id or 0), deposit_id, report)

    async def work(self, who: Requester, project_id: int, deposit_id: int, report: Report) -> dict[str, object]:
        """Brings the deposit to its end, from wherever it is. Raises as ``Repository``."""
        row = await statements.find_deposit_work(self._db, deposit_id)
        if row is None:
            raise NotFoundError(_("The deposit was removed."))
        snapshot = await self._snapshots.one(who, project_id, row.snapshot_id)
        if row.published is None:
            await self._carry_out(row, snapshot, await statements.find_short_name(self._db, project_id), report)
        ended = await statements.find_deposit(self._db, row.snapshot_id)
        return {} if ended is None else {"page": ended["page"], "doi": ended["doi"]}

    async def _carry_out(self, row: DepositWork, snapshot: SnapshotRow, short_name: str, report: Report) -> None:
        if row.token_encrypted is None:
            raise InvalidValueError(_("The access token is no longer stored. Remove the deposit and begin again."))
        token = self._secrets.decrypt(row.token_encrypted, _place(row.id))
        repository = Repository(self._outgoing, row.url, token)
        address = f"{self._base_url.rstrip('/')}/project/{short_name}/snapshots/{snapshot['hash']}"
        description = metadata({**(snapshot["manifest"] or {})}, address)
        if row.remote_id is not None:
            deposition = await repository.get(row.remote_id)
        else:
            # One that was created just before this process was killed is there without our knowing.
            deposition = await repository.find(address) or await repository.create(description)
            await statements.set_deposit_created(self._db, row.id, deposition.id, deposition.page)
        if not deposition.published:
            await self._upload(repository, deposition, await self._snapshots.files(snapshot), report)
            await repository.describe(deposition.id, description)
            await statements.set_deposit_uploaded(self._db, row.id)
            if not row.publish:
                return
            deposition = await repository.publish(deposition.id)
        await statements.set_deposit_published(self._db, row.id, deposition.page, deposition.doi)

    async def _upload(
        self, repository: Repository, deposition: Deposition, files: Sequence[SnapshotFile], report: Report
    ) -> None:
        """The files that the repository does not have yet."""
        await report(0, len(files))
        for n, file in enumerate(files, 1):
            existing = deposition.files.get(file["name"])
            if existing is None or existing[0] != file["bytes"] or existing[1] != await self._md5(file):
                await repository.upload(deposition, file["name"], file["bytes"], self._content(file))
            await report(n, len(files))

    def _content(self, file: SnapshotFile) -> AsyncGenerator[bytes, None]:
        return zip_stream.read_content(self._store, file)

    async def _md5(self, file: SnapshotFile) -> str:
        digest = hashlib.md5(usedforsecurity=False)
        async for piece in self._content(file):
            digest.update(piece)
        return digest.hexdigest()

    async def _begin(
        self, tx: Database, who: Requester, project_id: int, deposit_id: int, *, publish: bool, queued: bool
    ) -> None:
        item_id = await self._queue.add(tx, HANDLER, {"deposit": deposit_id}, who, project_id) if queued else None
        await statements.begin_deposit(tx, deposit_id, item_id, publish=publish)

    def _checked(self, snapshot: SnapshotRow, url: str) -> str:
        """The address of the site."""
        if snapshot["hash"] is None:
            raise ConflictError(_("The snapshot is not done."))
        require_citable(snapshot["manifest"] or {})
        address = _address(url)
        if len(address) > MAX_URL or "?" in address or "#" in address:
            raise InvalidValueError(_("The address of the repository is not valid."))
        target = self._outgoing.target(address)
        if target.scheme != "https" and not target.trusted:
            raise InvalidValueError(_("The address of the repository must begin with https://."))
        return address


def _address(url: str) -> str:
    return url.strip().rstrip("/")


def _token(token: str) -> str:
    word = token.strip()
    if not word or len(word) > MAX_TOKEN or not word.isascii() or not word.isprintable() or " " in word:
        raise InvalidValueError(_("Enter an access token of the repository."))
    return word


def _place(deposit_id: int) -> str:
    return place("deposit", "token_encrypted", deposit_id)
