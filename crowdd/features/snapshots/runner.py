"""Make a snapshot: read rows as of one moment, start the process that writes the files, and store them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final

import attrs
import orjson

from crowdd.core import statements as core_statements
from crowdd.core.quotas import Quota
from crowdd.database.access import Database, Transactions
from crowdd.features.exports import statements as export_statements
from crowdd.features.exports.file_writer import Resources
from crowdd.features.exports.statements import Lines
from crowdd.features.media.store import SNAPSHOT, MediaNames, MediaStore
from crowdd.features.projects import dataset
from crowdd.features.questions import folder_versions
from crowdd.features.snapshots import statements
from crowdd.features.snapshots.contents import documents, settings, utc, version_numbers
from crowdd.features.snapshots.rows import SnapshotFile, SnapshotProject
from crowdd.features.snapshots.snapshot_program import ABOUT, FINDINGS, entries
from crowdd.features.snapshots.zip_stream import FileEntry
from crowdd.features.trust import sample_statements
from crowdd.kernel import files as kernel_files
from crowdd.kernel.concurrency import isolated
from crowdd.kernel.concurrency.isolated import LimitError
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import InvalidValueError, NotFoundError
from crowdd.kernel.files import owned_folder, require_space
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.kind import Kind
from crowdd.kinds.result import RESULT
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN

_PROGRAM: Final = "crowdd.features.snapshots.snapshot_program:write_snapshot"


_TABLES: Final[dict[str, Kind]] = {"tasks.ndjson": TASK, "answers.ndjson": TASK_RUN, "results.ndjson": RESULT}
_OCTETS: Final = "application/octet-stream"
Report = Callable[[int], Awaitable[None]]
"""Gets the number of rows that are read; raises StoppedError when the work is to end."""


@attrs.frozen
class Made:
    """A snapshot that was made. ``known``: the project had one with this content already, which stays."""

    hash: str
    known: bool


@attrs.frozen(eq=False)
class SnapshotRunner:
    """``head`` gives the head of the audit log. ``folder`` is for files while they are made."""

    _db: Transactions
    _resources: Resources
    _worker_thread: WorkerThread
    _store: MediaStore
    _names: MediaNames
    _quota: Quota
    _head: Callable[[], Awaitable[Values]]
    _site: Callable[[], str]
    _base_url: str
    _folder: Path
    _min_free_bytes: int

    async def make(self, project_id: int, snapshot_id: int, who: Requester, report: Report) -> Made:
        """Makes a snapshot from its beginning. What an earlier attempt left is removed.

        Raises NotFoundError without the project, InvalidValueError, ForbiddenError (quota), UnavailableError.
        """
        await self.sweep(project_id)
        audit = await self._head()
        with _files(self._folder, snapshot_id) as (raw, folder):
            require_space(self._folder, self._min_free_bytes)
            reading = partial(self._read, project_id, raw, audit, report)
            project = await self._resources.reading.transaction(reading)
            await self._write(raw, folder, report)
            findings = orjson.loads(await self._worker_thread.do((folder / FINDINGS).read_bytes))
            return await self._store_all(project, snapshot_id, who, folder, findings)

    async def _read(self, project_id: int, raw: Path, audit: Values, report: Report, tx: Database) -> SnapshotProject:
        """Everything as of one moment."""
        await export_statements.begin(tx)
        project = await statements.find_project(tx, project_id)
        if project is None:
            raise NotFoundError("404 Not Found")
        versions = await folder_versions.earlier(tx, project_id, project.info)
        about = {
            "documents": documents(project, versions),
            "description": self._description(project, audit),
            "recalibration": await sample_statements.find_recalibration(tx, project_id),
        }
        (raw / ABOUT).write_bytes(orjson.dumps(about))
        rows = 0
        for name, lines in self._lines(project):
            rows = await self._read_rows(tx, raw / name, lines, rows, report)
        return project

    def _lines(self, project: SnapshotProject) -> Iterator[tuple[str, Lines]]:
        for name, kind in _TABLES.items():
            yield name, statements.read_lines(kind, project, complete=complete(project))
        yield "gold.ndjson", statements.read_gold_lines(project)
        yield "rules.ndjson", statements.read_rule_lines(project)
        yield "decisions.ndjson", statements.read_decision_lines(project, complete=complete(project))

    async def _read_rows(self, tx: Database, path: Path, lines: Lines, rows: int, report: Report) -> int:
        with path.open("wb") as file:
            async with aclosing(self._resources.pieces(tx, lines)) as pieces:
                async for piece in pieces:
                    await self._worker_thread.do_soon(file.write, piece.content + b"\n")
                    rows += piece.rows
                    require_space(self._folder, self._min_free_bytes)
                    await report(rows)
        return rows

    def _description(self, project: SnapshotProject, audit: Values) -> Values:
        dataset_info = dataset.written(dataset.read(project.info))
        return {
            "name": project.name,
            "short_name": project.short_name,
            "description": project.description,
            "license": dataset_info["license"],
            "authors": dataset_info["authors"],
            "created": utc(project.now),
            "address": f"{self._base_url.rstrip('/')}/project/{project.short_name}/snapshots",
            "site": self._site(),
            "software": version("crowdd"),
            "settings": settings(project),
            "versions": version_numbers(project),
            "audit": audit,
        }

    async def _write(self, raw: Path, folder: Path, report: Report) -> None:
        async def look() -> None:
            require_space(self._folder, self._min_free_bytes)
            await report(0)

        try:
            await isolated.start(_PROGRAM, str(raw), str(folder)).finish(self._worker_thread, look)
        except LimitError:
            raise InvalidValueError(_("The snapshot takes too much memory or time.")) from None

    async def _store_all(
        self, project: SnapshotProject, snapshot_id: int, who: Requester, folder: Path, findings: Values
    ) -> Made:
        """Puts the files into the store, and then says in one transaction that they are there."""
        files = entries(findings["files"])
        rows = [self._row(project.id, each) for each in files]
        for entry, row in zip(files, rows, strict=True):
            await self._store.put(row["key"], folder / entry.name, _OCTETS)
        paths = {row["key"]: folder / entry.name for entry, row in zip(files, rows, strict=True)}
        sizes = {row["key"]: entry.stored_bytes for entry, row in zip(files, rows, strict=True)}

        async def work(tx: Database) -> bool:
            await statements.hold_files(tx, project.id)
            for key, path in paths.items():
                if await self._store.size(key) is None:  # somebody removed it: no other snapshot had it
                    await self._store.put(key, path, _OCTETS)
            done = await statements.finish_snapshot(
                tx, snapshot_id, findings["hash"], project, findings["manifest"], complete=complete(project)
            )
            if not done:
                return False
            await statements.add_files(tx, snapshot_id, rows)
            await core_statements.note_files(tx, [*sizes.items()], [])
            await self._quota.require(tx, who)
            return True

        if await self._db.transaction(work):
            return Made(findings["hash"], known=False)
        await self._forget(project.id, snapshot_id, findings["hash"])
        return Made(findings["hash"], known=True)

    async def _forget(self, project_id: int, snapshot_id: int, snapshot_hash: str) -> None:
        """Removes a snapshot whose content the project has already. NotFoundError: it was deleted meanwhile."""
        await statements.delete_snapshot(self._db, snapshot_id)
        await self.sweep(project_id)
        if await statements.find_snapshot_by_hash(self._db, project_id, snapshot_hash) is None:
            raise NotFoundError(_("The snapshot was deleted."))

    def _row(self, project_id: int, file: FileEntry) -> SnapshotFile:
        key = self._names.key(project_id, file.sha256, SNAPSHOT)
        return {
            "name": file.name,
            "key": key,
            "bytes": file.bytes,
            "sha256": file.sha256,
            "crc32": file.crc32,
            "content": file.content,
        }

    async def sweep(self, project_id: int) -> None:
        """Removes files that no snapshot of the project has any more, or that an attempt left."""

        async def work(tx: Database) -> None:
            await statements.hold_files(tx, project_id)
            used_keys = await statements.list_file_keys(tx, project_id)
            stored_keys = [key async for key, _size in self._store.keys(project_id) if key.endswith(SNAPSHOT)]
            gone = [key for key in stored_keys if key not in used_keys]
            await self._store.delete(gone)
            await core_statements.note_files(tx, [], gone)

        await self._db.transaction(work)


def complete(project: SnapshotProject) -> bool:
    """Whether others see the answers to complete tasks only."""
    return project.info.get("answers_when_complete") is True


@contextmanager
def _files(folder: Path, snapshot_id: int) -> Iterator[tuple[Path, Path]]:
    """Folders for rows and for files, which are new and go at the end; those of killed attempts go now."""
    kernel_files.make_folder(folder, folder.parent)
    with owned_folder(folder, f"{snapshot_id}-") as own:
        raw, files = own / "raw", own / "files"
        raw.mkdir()
        files.mkdir()
        yield raw, files
