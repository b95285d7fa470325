"""Imports in the background: a file is read against the project first, then its rows are added, some at a time.

Each step that adds is one transaction that also says how far it is: after a kill it goes on there, and no row is taken
twice or left out. Where the owner wants all or nothing, all steps are one transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from twisted.internet.defer import ensureDeferred

from crowdd.core import log_statements
from crowdd.core.quotas import Quota
from crowdd.core.records import rights
from crowdd.core.records import statements as record_statements
from crowdd.core.secrets import Secrets
from crowdd.database.access import Database, Transactions
from crowdd.features.imports import exported_files, import_roles, import_rows, statements
from crowdd.features.imports import files as file_files
from crowdd.features.imports.files import Dialect, FileRow, Inspected
from crowdd.features.imports.files.text import MAX_ROWS
from crowdd.features.imports.prepared.preparing import Preparing
from crowdd.features.imports.prepared.process import discard
from crowdd.features.imports.progress import figures, refusals, tally, undecided
from crowdd.features.imports.reader import Chunk, Plan, RowReader, printable
from crowdd.features.imports.rows import ImportChoices, ImportRow, PendingImport
from crowdd.features.projects import statements as project_statements
from crowdd.features.results import results
from crowdd.features.results import statements as result_statements
from crowdd.features.tasks import statements as task_statements
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import InvalidValueError, NotFoundError, StoppedError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.answers import MarkLimit
from crowdd.sched import statements as sched_statements
from crowdd.sched.queue import QueuedTask

SHOWN_ROWS = 5
_KEYS_AT_ONCE = 5000  # tasks whose keys are learnt in one transaction
_A_DAY = timedelta(days=1)
Note = Callable[[int], Any]


class ImportRunner:
    """Reads files of imports and adds what they have."""

    def __init__(
        self,
        db: Transactions,
        notify: Callable[[int], None],
        worker_thread: WorkerThread,
        preparing: Preparing,
        folder: Path,
        quota: Quota,
        secrets: Secrets,
    ) -> None:
        self._preparing = preparing
        self._db, self._notify, self._worker_thread = db, notify, worker_thread
        self._folder, self._quota, self._secrets = folder, quota, secrets

    async def run(self, item: QueuedTask) -> dict[str, object]:
        """Reads a file where that has not been done, and adds what it has where its owner has said so.

        Raises NotFoundError when the file or the project is gone, ForbiddenError without the rights that are needed.
        """
        import_id = int(item.arguments["import"])
        row = await self._import(item)
        if row["ended"] is None:
            await self._require(self._db, item.who, row)
            if row["preview"] is None:
                row = await self._check(item, row)
            if row["queue_item"] != item.id:
                report: dict[str, object] = {"import": import_id, "state": row["state"], **(row["preview"] or {})}
                return {**report, "error": row["check_error"]} if row["check_error"] else report
            await self._add(item, row)
        ended: Mapping[str, Any] = await statements.end(self._db, import_id)
        discard(self._folder / ended["file"])
        self._notify(ended["project_id"])
        return {"import": import_id, **{name: ended[name] for name in figures()}}

    async def _import(self, item: QueuedTask) -> ImportRow:
        row = await statements.get(self._db, int(item.project_id or 0), int(item.arguments["import"]))
        if row is None:
            raise NotFoundError("The import has been removed.")
        return row

    async def _check(self, item: QueuedTask, row: ImportRow) -> ImportRow:
        """Reads the file; where its owner wants it to begin by itself, and need not decide anything, it does."""

        async def work(tx: Database) -> None:
            now = await statements.lock(tx, row["id"])
            if now is None or now["queue_item"] != item.id:
                return
            if undecided(checked, checked["on_error"]) is None:
                await statements.begin(tx, row["id"], checked["on_error"] or "skip", item.id)
                await import_roles.write_roles(tx, checked)
                await note_import(tx, item.who, checked)
            else:
                await statements.wait_for_owner(tx, row["id"])

        await self.read(row, item)
        checked = await self._import(item)
        await self._db.transaction(work)
        self._notify(row["project_id"])
        return await self._import(item)

    # What is in the file

    async def read(self, row: ImportRow, item: QueuedTask | None = None, max_rows: int = MAX_ROWS) -> bool:
        """Reads the file of an import against its project, and keeps what would become of its rows.

        False, and nothing done, for a file of more than ``max_rows``, and for one that names others, which an ``item``
        fetches. A file of which nothing can be used has its reason in ``check_error`` afterwards.
        """
        path = self._path(row)
        try:
            prepared = await self._preparing.rows(path, row["dialect"], item)
            if prepared is None:
                return False
            path = prepared
            inspected = await self._worker_thread.do(_inspect, path, row["dialect"])
            if inspected.rows > max_rows:
                return False
            choices = await self._db.transaction(lambda tx: self._save_inspected(tx, row, inspected))
            checked: ImportRow = {**row, **choices}
            preview = await self._preview(checked, path, item, inspected)
        except InvalidValueError as error:
            await statements.save_unreadable(self._db, row["id"], str(error))
            return True

        async def work(tx: Database) -> None:
            now = await statements.lock(tx, row["id"])
            if now is not None and statements.choices_of(now) == choices:
                await statements.save_preview(tx, row["id"], choices, preview)

        await self._db.transaction(work)
        self._notify(row["project_id"])
        return True

    async def _save_inspected(self, tx: Database, row: PendingImport, inspected: Inspected) -> ImportChoices:
        """Keeps what the file holds; the owner's choices as far as they fit its columns."""
        columns = [name for name in inspected.columns if "\x00" not in name]
        kind = row["kind"] or exported_files.kind_of(inspected.columns)
        usual = import_rows.default_uses(inspected.dialect.format, inspected.columns)
        usual |= dict.fromkeys(set(inspected.blank) & usual.keys(), "skip")
        chosen = {name: use for name, use in (row["uses"] or {}).items() if name in usual}
        uses = import_rows.check_uses({**usual, **chosen}, inspected.columns)
        key = row["key_name"] if kind == exported_files.TABLE else None
        if row["columns"] and key not in inspected.columns:
            key = None  # it was chosen when the file was read otherwise
        import_rows.require_key(key, uses)
        choices: ImportChoices = {
            "dialect": inspected.dialect.to_json(),
            "kind": kind,
            "uses": {name: use for name, use in uses.items() if "\x00" not in name},
            "key_name": key,
            "keep_columns": row["keep_columns"],
            "again": row["again"],
            "n_answers": row["n_answers"],
        }
        values = {
            **choices,
            "format": inspected.dialect.format,
            "columns": columns,
            "sample": [_short(each) for each in inspected.sample],
            "rows": inspected.rows,
            "empty": inspected.empty,
            "doubts": list(inspected.doubts),
            "sheets": list(inspected.sheets),
        }
        await statements.save_inspected(tx, row["id"], values)
        return choices

    async def _preview(self, row: PendingImport, path: Path, item: QueuedTask | None, inspected: Inspected) -> Values:
        total, answers = Counter(dict.fromkeys(figures(), 0)), Counter[int]()
        matched, reader = 0, RowReader(path, await self._plan(self._db, row, adds=False))
        if row["key_name"] is not None:
            while await statements.learn_keys(self._db, row["project_id"], row["key_name"], _KEYS_AT_ONCE):
                pass
        try:
            async with aclosing(self._chunks(reader)) as chunks:
                async for chunk in chunks:
                    fates, matches = await self._fates(row, chunk)
                    matched += matches
                    refused = [*chunk.refused, *refusals(chunk, fates)]
                    total.update(tally(chunk, fates, refused))
                    new = _with(chunk, fates, "added")
                    answers.update(each["n_answers"] for each, fate in new if "n_answers" in each)
                    if chunk.seen and row["key_name"] is not None:
                        matched += await statements.keyed_tasks(
                            self._db, row["project_id"], row["key_name"], chunk.seen
                        )
                    await statements.add_errors(self._db, row["id"], refused)
                    if item is not None:
                        await item.progress(total["rows"], inspected.rows * (2 if row["queue_item"] else 1))
        finally:
            reader.close()
        gone = 0
        if row["key_name"] is not None:
            gone = max(0, await statements.keyed_tasks(self._db, row["project_id"], row["key_name"]) - matched)
        wanted = {"answers": sum(n * count for n, count in answers.items())}
        return {**total, **wanted, "fewest": min(answers, default=0), "most": max(answers, default=0), "gone": gone}

    async def _fates(self, row: PendingImport, chunk: Chunk) -> tuple[list[str], int]:
        """What would become of each row of a chunk: added, updated, same, kept, present, or what ``refusals`` tells.

        With it, how many tasks that are not taken out are found by their key.
        """
        project_id, taken = row["project_id"], chunk.taken
        if not taken:
            return [], 0
        if row["kind"] == exported_files.ANSWERS:
            return await statements.match_answers(self._db, project_id, taken), 0
        if row["kind"] == exported_files.RESULTS:
            return [each["fate"] for each in await result_statements.match_results(self._db, project_id, taken)], 0
        if row["key_name"] is not None:
            rows = await statements.match_keyed(self._db, row, taken)
            matched = [r["fate"] != "added" and not r["retired"] for r in rows]
            matched_count = sum(here and not each["named_above"] for here, each in zip(matched, taken, strict=True))
            return [r["fate"] for r in rows], matched_count
        return await self._presence(row, taken), 0

    async def _presence(self, row: PendingImport, taken: list[Values]) -> list[str]:
        project_id = row["project_id"]
        if row["again"]:
            return ["added"] * len(taken)
        if _has_origins(taken):
            matches = await statements.match_exported(self._db, project_id, taken)
        else:
            matches = await statements.known(self._db, project_id, [each["info"] for each in taken])
        return ["present" if each else "added" for each in matches]

    async def _plan(self, db: Database, row: PendingImport, *, adds: bool) -> Plan:
        def pseudonym(source: int, volunteer: str) -> str:
            text = f"{row['project_id']} {source} {volunteer}"
            return f"imported-{self._secrets.digest('imported volunteer', text).hex()[:24]}"

        return Plan(
            row["kind"],
            Dialect.from_json(row["dialect"]),
            row["uses"] or {},
            row["key_name"],
            row["again"],
            row["n_answers"],
            pseudonym,
            datetime.now(UTC) + _A_DAY,
            MarkLimit.of(await project_statements.read_mark_keys(db, row["project_id"])),
            row["rows"],
            finds_twice=not adds,
        )

    # Adding it

    async def _add(self, item: QueuedTask, row: PendingImport) -> None:
        path = await self._preparing.rows(self._path(row), row["dialect"], item) or self._path(row)
        if row["on_error"] == "stop":
            await self._db.transaction(lambda tx: self._add_all(tx, item, row, path))
            self._notify(row["project_id"])
            return
        taken = int((item.checkpoint or {}).get("rows", 0))
        reader = RowReader(path, await self._plan(self._db, row, adds=True))
        try:
            await self._worker_thread.do(reader.skip, taken)
            async with aclosing(self._chunks(reader)) as chunks:
                async for chunk in chunks:
                    taken += chunk.passed
                    await self._db.transaction(self._step(item, row, chunk, taken))
                    self._notify(row["project_id"])
        finally:
            reader.close()

    async def _chunks(self, reader: RowReader) -> AsyncGenerator[Chunk, None]:
        """The rows of a file. The next ones are read in a thread while the database works on those before."""
        coming = ensureDeferred(self._worker_thread.do(reader.next_chunk))
        try:
            while (chunk := await coming).passed:
                coming = ensureDeferred(self._worker_thread.do(reader.next_chunk))
                yield chunk
        finally:
            with suppress(Exception):
                await coming  # the thread has the file until then

    def _step(self, item: QueuedTask, row: PendingImport, chunk: Chunk, taken: int) -> Any:
        async def step(tx: Database) -> None:
            await self._take(tx, item.who, row, chunk)
            before = row["rows"] if row["check_item"] == item.id else 0  # this item has read the file, too
            await item.progress(before + min(taken, row["rows"]), before + row["rows"], {"rows": taken}, within=tx)
            await self._quota.require(tx, item.who)

        return step

    async def _add_all(self, tx: Database, item: QueuedTask, row: PendingImport, path: Path) -> None:
        """Everything in one transaction: after a refused row, a limit or a cancellation nothing is left behind."""
        reader = RowReader(path, await self._plan(tx, row, adds=True))
        try:
            while (chunk := await self._worker_thread.do(reader.next_chunk)).passed:
                refused = await self._take(tx, item.who, row, chunk)
                if refused:
                    line, reason = refused[0]["line"], refused[0]["reason"]
                    raise InvalidValueError(f"Line {line}: {reason} Nothing was added.")
                if item.stopping or await sched_statements.is_cancelled(tx, item.id):
                    raise StoppedError("ending" if item.stopping else "cancelled")
        finally:
            reader.close()
        await self._quota.require(tx, item.who)
        total = row["rows"] * (2 if row["check_item"] == item.id else 1)
        await item.progress(total, total, {"rows": row["rows"]}, within=tx)

    async def _take(self, tx: Database, who: Requester, row: PendingImport, chunk: Chunk) -> list[Values]:
        """Adds what a chunk has, counts it, and gives the rows that were refused."""
        await task_statements.hold_imports(tx, row["project_id"], gold=import_rows.GOLD in (row["uses"] or {}).values())
        await self._require(tx, who, row)
        counts = await self._taken(tx, row, chunk)
        refused = [*chunk.refused, *counts.pop("refusals", ())]
        more = {"rows": chunk.rows, "twice": chunk.twice + counts.get("twice", 0), "refused": len(refused)}
        counts["present"] = counts.get("present", 0) + chunk.twice
        await statements.count(tx, row["id"], {**dict.fromkeys(figures(), 0), **counts, **more})
        await statements.add_errors(tx, row["id"], refused)
        return refused

    async def _taken(self, tx: Database, row: PendingImport, chunk: Chunk) -> Values:
        project_id, taken = row["project_id"], chunk.taken
        if row["key_name"] is not None:
            done = await statements.add_keyed(tx, row, taken, chunk.seen)
            return {**done, "present": done["same"] + done["kept"]}
        if not taken:
            return {}
        if row["kind"] == exported_files.ANSWERS:
            fates = await statements.add_answers(tx, project_id, taken)
            counts = Counter(fates)
            return {"added": counts["added"], "present": counts["present"], "refusals": refusals(chunk, fates)}
        if row["kind"] == exported_files.RESULTS:
            fates = await results.fill_exported(tx, project_id, taken)
            counts = Counter(fates)
            some = {name: counts[name] for name in ("added", "updated", "present")}
            return {**some, "refusals": refusals(chunk, fates)}
        if _has_origins(taken):
            return dict(await statements.add_exported(tx, project_id, taken, row["again"]))
        return dict(await statements.add_new(tx, project_id, taken, row["again"]))

    def _path(self, row: PendingImport) -> Path:
        path = self._folder / row["file"]
        if not path.is_file():
            raise NotFoundError(
                "The file no longer exists. Upload it again: rows that were imported are not imported twice."
            )
        return path

    async def _require(self, db: Database, who: Requester, row: PendingImport) -> None:
        """Raises NotFoundError without the project, ForbiddenError for a requester who may not import this into it."""
        roles = await record_statements.roles_to_project(db, row["project_id"], who)
        if roles is None:
            raise NotFoundError("The project has been deleted.")
        rights.require(who, roles, exported_files.importers(row["kind"]))


async def note_import(tx: Database, who: Requester, row: PendingImport) -> None:
    """Writes the beginning of an import into the audit log."""
    after = {"name": row["name"], "rows": row["rows"], "kind": row["kind"]}
    await log_statements.write_act(
        tx, who, "import", "project", row["project_id"], project_id=row["project_id"], after=after
    )


def _inspect(path: Path, dialect: Mapping[str, object] | None) -> Inspected:
    rows = 0

    def count(_row: FileRow) -> None:
        nonlocal rows
        rows += 1
        if rows > MAX_ROWS:
            raise InvalidValueError(_("The file has more than %(max)s rows. Split it.", max=f"{MAX_ROWS:,}"))

    chosen = None if dialect is None else Dialect.from_json(dialect)
    return file_files.inspect(path, SHOWN_ROWS, chosen, count)


def _has_origins(taken: Sequence[Mapping[str, object]]) -> bool:
    return bool(taken) and taken[0].get("original") is not None


def _with(chunk: Chunk, fates: Sequence[str], wanted: str) -> list[tuple[Values, str]]:
    return [(each, fate) for each, fate in zip(chunk.taken, fates, strict=True) if fate == wanted]


def _short(values: Values) -> dict[str, str]:
    """The first rows as texts for people."""
    shown = {name: value for name, value in values.items() if "\x00" not in name}
    return {name: printable(value if isinstance(value, str) else str(value)) for name, value in shown.items()}
