"""Moves a PyBossa database into a new site: table by table, each batch with its checkpoint in one transaction.

Killed at any moment, it goes on after the last batch that was committed. Ids stay, so the site has to be new.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

import attrs

from crowdd.core import log_statements
from crowdd.core.secrets import Secrets
from crowdd.core.uploads import Uploads
from crowdd.database.access import Database, Row, Statement, Transactions, Values
from crowdd.database.connection import run_in_savepoint
from crowdd.database.errors import first_line
from crowdd.features.accounts.passwords import Passwords
from crowdd.features.movein import figures, files, statements, tables
from crowdd.features.movein.files import Aside
from crowdd.features.movein.statements import TABLES, Pybossa, Step
from crowdd.features.movein.tables import Batch, Tools
from crowdd.features.movein.values import BAD_ROW, new_step, note, refuse
from crowdd.features.webhooks.webhooks import Webhooks
from crowdd.kernel.errors import ConflictError, InvalidValueError
from crowdd.kernel.requester import SYSTEM
from crowdd.kernel.values import Values as RowValues

T = TypeVar("T")
BATCH: Final = 1000  # rows in a transaction
RETIRED: Final = (
    "Completed in PyBossa with fewer answers than `n_answers`. The task was retired: nobody is asked again."
)
_OURS: Final = {"user": "account"}  # tables that have another name here
_AHEAD: Final = ("category", "user", "project", "task", "task_run")
_BEHIND: Final = ("result", "completions", "blogpost", "helpingmaterial", "announcement")
Report = Callable[[str, int], None]
"""Hears what is being moved, and how many rows of it were read."""


@attrs.frozen
class Moved:
    """What became of a database. ``tables``: the sums of each; ``compared``: what the figures say afterwards."""

    dry_run: bool
    resumed: bool
    before: bool  # it had ended before: the rows were compared only
    tables: list[RowValues]
    not_read: RowValues
    compared: figures.Comparison


class MoveIn:
    """One database of PyBossa on its way into this site."""

    def __init__(
        self,
        db: Transactions,
        secrets: Secrets,
        passwords: Passwords,
        webhooks: Webhooks,
        uploads: Uploads,
        aside: Aside,
    ) -> None:
        self._db, self._tools, self._uploads, self._aside = db, Tools(secrets, passwords, webhooks), uploads, aside

    async def run(self, source: Pybossa, folder: Path | None, report: Report, *, dry_run: bool = False) -> Moved:
        """Moves everything in. ``folder``: PyBossa's uploads. Raises ConflictError for a site that is not new.

        ``dry_run``: the same in a transaction that is rolled back; no file is copied.
        """
        if not dry_run:
            return await _Run(self._db, self._tools, self._uploads, self._aside, source, report).move(folder)
        try:
            await self._db.transaction(lambda tx: self._rehearse(tx, source, folder, report))
        except _RehearsedError as rehearsed:
            return rehearsed.moved
        raise AssertionError("A rehearsal is always rolled back.")

    async def _rehearse(self, tx: Database, source: Pybossa, folder: Path | None, report: Report) -> None:
        run = _Run(_Within(tx), self._tools, self._uploads, self._aside, source, report, dry=True)
        raise _RehearsedError(await run.move(folder))


class _RehearsedError(Exception):
    """Rolls a rehearsal back."""

    def __init__(self, moved: Moved) -> None:
        super().__init__()
        self.moved = moved


class _Within:
    """A transaction in the place of a pool: what would be committed stays within it."""

    no_space = False

    def __init__(self, tx: Database) -> None:
        self._tx = tx

    async def fetch(self, sql: Statement, values: Values = None) -> list[Row]:
        """The rows of a statement."""
        return await self._tx.fetch(sql, values)

    async def execute(self, sql: Statement, values: Values = None) -> int:
        """The number of rows that a statement changed."""
        return await self._tx.execute(sql, values)

    async def transaction(self, work: Callable[[Database], Awaitable[T]]) -> T:
        """What the work returns."""
        return await work(self._tx)


@attrs.define
class _Run:
    _db: Transactions
    _tools: Tools
    _uploads: Uploads
    _aside: Aside
    _source: Pybossa
    _report: Report
    _dry: bool = False
    _steps: dict[str, Step] = attrs.field(factory=dict)

    async def move(self, folder: Path | None) -> Moved:
        resumed, before = await self._begin()
        if before:
            return await self._compare_again(folder)
        for name in _AHEAD:
            await self._db.transaction(statements.analyze_tables)
            await self._table(name)
        await self._db.transaction(statements.analyze_tables)
        await self._each("states", self._source.completed_after, self._retire)
        for name in _BEHIND:
            await (self._completions() if name == "completions" else self._table(name))
        await self._files(folder)
        await self._each("published", self._source.published_after, self._publish)
        await self._db.transaction(self._end)
        return await self._moved(resumed, before=False)

    async def _begin(self) -> tuple[bool, bool]:
        """Whether this goes on with an earlier attempt, and whether that had ended."""
        identity = await self._aside(self._source.identity)
        categories = await self._aside(self._source.count, "category") > 0
        last = await self._aside(self._source.last_result)

        async def work(tx: Database) -> tuple[bool, bool]:
            await statements.lock_move_in(tx)
            current = await statements.read_move_in(tx)
            if current is not None and current.source != identity:
                raise ConflictError("Another PyBossa database was moved into this site. Use a new database.")
            if current is None:
                existing = await statements.count_obstacles(tx)
                if existing.accounts or existing.projects:
                    raise ConflictError(
                        "The site is not empty: it has"
                        f" {existing.accounts:,} accounts and {existing.projects:,} projects."
                        " PyBossa's rows keep their ids, so they need a new database.",
                        hint="Create a database, run crowdctl db upgrade, and move in before the first crowdctl serve.",
                    )
                await statements.begin_move_in(tx, identity, categories=categories)
                await statements.reserve_result_ids(tx, last)
            return current is not None, current is not None and current.ended is not None

        existing = await self._db.transaction(work)
        self._steps = {step["name"]: step for step in await statements.list_steps(self._db)}
        return existing

    async def _table(self, name: str) -> None:
        async def add(tx: Database, rows: list[RowValues], step: Step) -> None:
            step["read"] += len(rows)
            await tables.ADDING[name](Batch(tx, rows, step, self._tools))

        async def after(last: int, maximum: int) -> list[RowValues]:
            next_rows: list[RowValues] = await self._aside(self._source.after, name, last, maximum)
            return next_rows

        await self._batches(name, after, add)

    async def _each(
        self,
        name: str,
        read: Callable[[int, int], list[RowValues]],
        work: Callable[[Database, list[int], Step], Awaitable[None]],
    ) -> None:
        async def after(last: int, maximum: int) -> list[RowValues]:
            next_rows: list[RowValues] = await self._aside(read, last, maximum)
            return next_rows

        await self._batches(name, after, lambda tx, rows, step: work(tx, [row["id"] for row in rows], step))

    async def _batches(
        self,
        name: str,
        after: Callable[[int, int], Awaitable[list[RowValues]]],
        work: Callable[[Database, list[RowValues], Step], Awaitable[None]],
    ) -> None:
        step = self._steps.setdefault(name, new_step(name))
        while not step["ended"]:
            rows = await after(step["upto"], BATCH)
            step = await self._db.transaction(lambda tx: self._batch(tx, name, rows, work))  # noqa: B023
            self._report(name, step["read"])

    async def _batch(
        self,
        tx: Database,
        name: str,
        rows: list[RowValues],
        work: Callable[[Database, list[RowValues], Step], Awaitable[None]],
    ) -> Step:
        """One batch and its checkpoint. Works on a copy, because a transaction may be run again."""
        before = self._steps[name]
        remarks = {words: {**remark, "first": [*remark["first"]]} for words, remark in before["remarks"].items()}
        step: Step = {**before, "remarks": remarks, "ended": len(rows) < BATCH}
        if rows:
            step["upto"] = rows[-1]["id"]
            await _add(tx, rows, step, work)
        await statements.save_step(tx, step)
        self._steps[name] = step
        return step

    async def _retire(self, tx: Database, ids: list[int], step: Step) -> None:
        note(step, RETIRED, await statements.retire_tasks(tx, ids))

    async def _publish(self, tx: Database, ids: list[int], step: Step) -> None:
        await statements.publish_projects(tx, ids)

    async def _completions(self) -> None:
        step = self._steps.setdefault("completions", new_step("completions"))
        while not step["ended"]:

            async def work(tx: Database) -> Step:
                done = await statements.complete_tasks(tx, self._steps["completions"]["upto"], BATCH)
                now = self._steps["completions"]
                next_step: Step = {**now, "upto": done.last or now["upto"], "ended": done.last is None}
                next_step["added"] = now["added"] + done.completed
                await statements.save_step(tx, next_step)
                return next_step

            step = self._steps["completions"] = await self._db.transaction(work)

    async def _files(self, folder: Path | None) -> None:
        """Copies files; those that are there already are left alone, so no checkpoint is needed."""
        step = new_step("files")
        if folder is not None:
            await files.copy(self._uploads, folder, step, self._aside, self._report, dry=self._dry)
            if not self._dry:
                await self._db.transaction(lambda tx: files.name(tx, self._uploads))
        self._steps["files"] = step

    async def _end(self, tx: Database) -> None:
        if not self._dry:
            await statements.end_move_in(tx)
        sums = {name: self._steps[name]["added"] for name in TABLES}
        await log_statements.write_act(tx, SYSTEM, "update", "site", None, attribute="import-pybossa", after=sums)

    async def _compare_again(self, folder: Path | None) -> Moved:
        """Reads everything once more and adds nothing: PyBossa's rows that are here are present."""
        stored = self._steps
        self._steps = {}
        for name in TABLES:
            step = self._steps[name] = new_step(name)
            while rows := await self._aside(self._source.after, name, step["upto"], BATCH):
                ids = [row["id"] for row in rows]
                here = await statements.count_existing_ids(self._db, _OURS.get(name, name), ids)
                step["read"], step["upto"] = step["read"] + len(ids), ids[-1]
                step["refused"] += len(ids) - here
                self._report(name, step["read"])
            step["remarks"] = stored[name]["remarks"] if name in stored else {}
        await self._files(folder)
        return await self._moved(resumed=True, before=True)

    async def _moved(self, resumed: bool, *, before: bool) -> Moved:
        lists, columns = await self._aside(self._source.unread)
        compared = await figures.compare(self._db, self._source, self._aside)
        shown = [_sums(self._steps[name]) for name in (*TABLES, "files")]
        more = [name for name in ("states", "completions") if name in self._steps]
        return Moved(
            dry_run=self._dry,
            resumed=resumed,
            before=before,
            tables=shown + [_sums(self._steps[name]) for name in more],
            not_read={"tables": lists, "columns": columns},
            compared=compared,
        )


async def _add(
    tx: Database,
    rows: list[RowValues],
    step: Step,
    work: Callable[[Database, list[RowValues], Step], Awaitable[None]],
) -> None:
    """Adds rows. One that cannot be stored is found by halving, and refused: it is not the end of the move."""
    before = copy.deepcopy(step)

    async def attempt() -> None:
        try:
            await work(tx, rows, step)
        except (ValueError, TypeError, AttributeError) as error:  # of a value that no column of PyBossa should have
            raise InvalidValueError(str(error)) from error

    try:
        await run_in_savepoint(tx, attempt)
    except (InvalidValueError, ConflictError) as error:
        step.update(before)
        if len(rows) == 1:
            step["read"] += 1
            cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
            refuse(step, rows[0]["id"], BAD_ROW.format(reason=first_line(cause).rstrip(".")))
            return
        middle = len(rows) // 2
        await _add(tx, rows[:middle], step, work)
        await _add(tx, rows[middle:], step, work)


def _sums(step: Step) -> RowValues:
    """Sums of a table: read = added + present + refused."""
    remarks = [{"sentence": words, **remark} for words, remark in step["remarks"].items() if remark["rows"]]
    sums = {name: step[name] for name in ("read", "added", "refused")}
    present = step["read"] - step["added"] - step["refused"] if step["read"] else 0
    return {"table": step["name"], **sums, "present": present, "remarks": remarks}
