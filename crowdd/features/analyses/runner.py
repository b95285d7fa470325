"""Run an analysis: find the label in the answers, read them, start the process, and store its findings."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import attrs
import orjson

from crowdd.core.records import rights
from crowdd.core.records import statements as record_statements
from crowdd.database.access import Database, Transactions
from crowdd.features.analyses import process, statements
from crowdd.features.analyses.methods import LABELS, METHODS, PAIRS, TEXTS
from crowdd.features.analyses.rows import AnalysisRow
from crowdd.features.results import agreement_statements
from crowdd.features.results.rows import AgreementFigures
from crowdd.features.trust import review_statements, sample_statements
from crowdd.features.trust.sampling import checked_by
from crowdd.kernel import files as kernel_files
from crowdd.kernel.concurrency.isolated import LimitError, RunningProgram
from crowdd.kernel.concurrency.throttling import Turns
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import InvalidValueError, NotFoundError, StoppedError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.answers import AnswerField, declared
from crowdd.kinds.answers.fields import Choice, key
from crowdd.kinds.roles import OWNERS
from crowdd.sched.queue import QueuedTask

T = TypeVar("T")


@attrs.frozen
class Question:
    """``path`` leads to the value in an answer. ``choices``: None if any value is one, numbered as they appear.

    ``nulls``: whether null is a value like any other. ``unordered``: choices that say "can't tell". ``columns``: of
    tasks, with the item that each of the two choices stands for.
    """

    path: tuple[str, ...]
    choices: tuple[Choice, ...] | None
    nulls: bool
    unordered: tuple[Choice, ...] = ()
    columns: tuple[str, str] | None = None


def question_of(info: Values, takes: str = LABELS) -> Question:
    """That of a project: its first answer field, or the key "answer" if it declares none.

    Raises InvalidValueError if the first field is not what a method ``takes``, or an opinion.
    """
    if takes != LABELS:
        return _question_of_others(info, takes)
    fields = declared(info)
    if not fields:
        key = info.get("answer_key")
        return Question((key if isinstance(key, str) and key else "answer",), None, nulls=False)
    first = fields[0]
    if first.opinion:
        raise InvalidValueError(_("“%(name)s” asks for opinions, of which none is right.", name=first.name))
    if first.type != "label":
        words = _(
            "Analyses need a label as the first value of answers (“%(name)s” is of type %(type)s).", **_shown(first)
        )
        raise InvalidValueError(words)
    return Question(first.path, _choices(first), nulls=True, unordered=first.unsure)


def _question_of_others(info: Values, takes: str) -> Question:
    fields = declared(info)
    first = fields[0] if fields else None
    if takes == TEXTS and first is not None and first.type == "text" and not first.opinion:
        return Question(first.path, None, nulls=False)
    if takes == PAIRS and first is not None and first.type == "label":
        unsure = {key(one) for one in first.unsure}
        items = tuple(one for one in first.choices or () if key(one) not in unsure)
        if len(items) == 2 and isinstance(items[0], str) and isinstance(items[1], str):
            return Question(first.path, items, nulls=False, columns=(items[0], items[1]))
        raise InvalidValueError(
            _("This method needs a label with two choices, which are the names of columns of tasks.")
        )
    raise InvalidValueError(_("This method needs another type of the first answer field."))


def _shown(field: AnswerField) -> dict[str, str]:
    return {"name": field.name, "type": field.type}


def _choices(field: AnswerField) -> tuple[Choice, ...] | None:
    """With "can't tell", which is a choice like any other."""
    if field.choices is None:
        return None
    listed = set(map(key, field.choices))
    return field.choices + tuple(one for one in field.unsure if key(one) not in listed)


TASKS_AT_ONCE: Final = 500  # whose answers one statement reads
MAX_SECONDS: Final = 1800.0


@attrs.frozen(eq=False)
class Files:
    """What an analysis keeps on the disk while it runs."""

    answers: Path
    findings: Path
    pairs: Path


@attrs.frozen(eq=False)
class AnalysisRunner:
    """Does analyses one after the other. ``turns`` lets statements rest between two; ``folder`` is for the files."""

    _db: Transactions
    _notify: Callable[[int], None]
    _turns: Turns
    _worker_thread: WorkerThread
    _seconds: Callable[[], float]
    _folder: Path

    async def run(self, item: QueuedTask) -> dict[str, object]:
        """Does the analysis of a background task, from its beginning. Raises InvalidValueError with why it cannot."""
        analysis = await self._analysis(item)
        if analysis["ended"] is not None:
            return {"analysis": analysis["id"]}
        await statements.delete_outcomes(self._db, analysis["project_id"], analysis["id"])
        try:
            with _files(self._folder, analysis["id"]) as files:
                await _Run(self, item, analysis, files).run()
        except InvalidValueError as error:
            await statements.set_error(self._db, analysis["id"], str(error))
            raise
        self._notify(analysis["project_id"])
        return {"analysis": analysis["id"]}

    async def _analysis(self, item: QueuedTask) -> AnalysisRow:
        """Raises NotFoundError or ForbiddenError where it is gone, or who asked for it no longer owns the project."""
        project_id = int(item.project_id or 0)
        roles = await record_statements.roles_to_project(self._db, project_id, item.who)
        rights.require(item.who, roles or frozenset(), OWNERS)
        row = await statements.find_analysis(self._db, project_id, int(item.arguments["analysis"]))
        if row is None:
            raise NotFoundError(_("The analysis has been deleted."))
        return row

    async def question(self, project_id: int, takes: str) -> Question:
        """What is analysed."""
        return question_of(await statements.read_project_info(self._db, project_id) or {}, takes)

    async def statement(self, work: Callable[[Database], Awaitable[T]]) -> T:
        """What a transaction gives, when it is its turn."""
        return await self._turns.run("", partial(self._db.transaction, work))

    async def in_thread(self, work: Callable[..., T], *arguments: object) -> T:
        """What a short function gives, called in a thread."""
        return await self._worker_thread.do_soon(work, *arguments)

    async def finish(self, running: RunningProgram, look: Callable[[], Awaitable[None]]) -> None:
        """Waits for a program, and looks after it."""
        await running.finish(self._worker_thread, look)

    def now(self) -> float:
        """Seconds of a clock."""
        return self._seconds()


@attrs.define(eq=False)
class _Run:
    """One attempt. Its steps: each task is read, and each is stored."""

    _runner: AnalysisRunner
    _item: QueuedTask
    _analysis: AnalysisRow
    _files: Files
    _done: int = 0
    _total: int = 0
    _n_unfit: int = 0
    _n_different: int = 0

    async def run(self) -> None:
        method = METHODS[self._analysis["method"]]
        question = await self._runner.question(self._analysis["project_id"], method.takes)
        self._total = 2 * await self._runner.statement(
            lambda tx: statements.count_tasks(tx, self._analysis["project_id"])
        )
        await self._read(question)
        if question.columns is not None:
            await self._read_pairs(question.columns)
        await self._compute(question)
        await self._store()

    async def _read(self, question: Question) -> None:
        """Writes all answers into a file."""
        late, after, fitting = self._analysis["answers"] == "all", 0, 0
        method = METHODS[self._analysis["method"]]
        with self._files.answers.open("wb") as file:
            while True:
                read = partial(
                    statements.list_next_answers,
                    project_id=self._analysis["project_id"],
                    path=list(question.path),
                    after=after,
                    tasks=TASKS_AT_ONCE,
                    late=late,
                    max_bytes=statements.MAX_TEXT_BYTES if method.takes == TEXTS else statements.MAX_VALUE_BYTES,
                )
                piece = await self._runner.statement(read)
                if piece.last is None:
                    return
                after, fitting, self._n_unfit = piece.last, fitting + piece.fitting, self._n_unfit + piece.unfit
                if fitting > method.max_answers:
                    raise InvalidValueError(method.too_many)
                if piece.lines:
                    await self._runner.in_thread(file.write, piece.lines.encode() + b"\n")
                await self._advance(piece.tasks)

    async def _read_pairs(self, columns: tuple[str, str]) -> None:
        """Writes the two items of each task into a file."""
        after: int | None = 0
        with self._files.pairs.open("wb") as file:
            while after is not None:
                read = partial(
                    statements.list_next_pairs,
                    project_id=self._analysis["project_id"],
                    columns=columns,
                    after=after,
                    tasks=TASKS_AT_ONCE,
                )
                after, lines = await self._runner.statement(read)
                await self._runner.in_thread(file.write, lines.encode() + b"\n" if lines else b"")
                await self._advance(0)

    async def _compute(self, question: Question) -> None:
        """Has the process do it, and looks after it. Nothing of it stays when this attempt ends."""
        options = {
            "method": self._analysis["method"],
            "parameters": self._analysis["parameters"],
            "choices": question.choices,
            "nulls": question.nulls,
            "unordered": question.unordered,
            "pairs": str(self._files.pairs),
            "columns": dict(zip(("first", "second"), question.columns or (), strict=False)),
        }
        begun = self._runner.now()

        async def look() -> None:
            if self._runner.now() - begun > MAX_SECONDS:
                raise LimitError("seconds")
            await self._advance(0)

        try:
            await self._runner.finish(process.start(self._files.answers, self._files.findings, options), look)
        except LimitError:
            raise InvalidValueError(process.too_costly()) from None

    async def _store(self) -> None:
        """Stores what was found, chunk by chunk, each with the progress."""
        lines = process.read(self._files.findings)
        summary = await self._runner.in_thread(next, lines)
        choices = orjson.dumps(summary["choices"]).decode()
        while True:
            chunk = await self._runner.in_thread(next, lines, None)
            if chunk is None:
                break
            await self._runner.statement(partial(self._store_chunk, choices, chunk))
        summary["n_unfit"] += self._n_unfit
        if (figures := summary.pop("agreement")) is not None:
            await self._runner.statement(partial(self._store_agreement, figures))
        text = orjson.dumps(summary).decode()
        key = (self._analysis["project_id"], self._analysis["id"])
        await self._runner.statement(lambda tx: statements.finish_analysis(tx, *key, text, self._n_different))

    async def _store_agreement(self, found: Values, tx: Database) -> None:
        """With what is right of what can be checked, and volunteers by their codes."""
        project_id = self._analysis["project_id"]
        actors = sorted({actor for pair in found["pairs"] for actor in pair["volunteers"]})
        codes = await statements.list_volunteer_codes(tx, project_id, actors)
        choices = await review_statements.list_choices(tx, project_id)
        pairs: dict[str, Counter[tuple[int, int]]] = {}
        for each in await sample_statements.count_checked(tx, project_id):
            pairs.setdefault(each["by"], Counter())[each["truth"], each["said"]] = each["n"]
        figures = AgreementFigures(
            analysis_id=self._analysis["id"],
            at=None,
            tasks=found["tasks"],
            answers=found["answers"],
            measures=found["measures"],
            classes=found["classes"],
            pairs=[each | {"volunteers": [codes[actor] for actor in each["volunteers"]]} for each in found["pairs"]],
            difficult=found["difficult"],
            checked=[checked_by(by, pairs[by], choices) for by in ("sample", "gold", "experts") if by in pairs],
        )
        if not await agreement_statements.insert_figures(tx, project_id, figures):
            raise StoppedError("cancelled")  # it was deleted

    async def _store_chunk(self, choices: str, chunk: Values, tx: Database) -> None:
        key = (self._analysis["project_id"], self._analysis["id"])
        different = 0
        if "tasks" in chunk:
            stored, different = await statements.insert_task_outcomes(
                tx, *key, choices, orjson.dumps(chunk["tasks"]).decode()
            )
        else:
            stored = await statements.insert_volunteer_outcomes(tx, *key, orjson.dumps(chunk["volunteers"]).decode())
        if not stored:
            raise StoppedError("cancelled")  # it was deleted
        await self._advance(len(chunk.get("tasks", ())), within=tx)
        self._n_different += different

    async def _advance(self, steps: int, within: Database | None = None) -> None:
        self._done += steps
        self._total = max(self._total, self._done)
        await self._item.progress(self._done, self._total, within=within)


@contextmanager
def _files(folder: Path, analysis_id: int) -> Iterator[Files]:
    """Names for files, in a folder that is new and goes at the end. An attempt that was killed may have left others."""
    kernel_files.make_folder(folder, folder.parent)
    for left in folder.glob(f"{analysis_id}-*"):
        shutil.rmtree(left, ignore_errors=True)
    own = Path(tempfile.mkdtemp(prefix=f"{analysis_id}-", dir=folder))
    try:
        yield Files(own / "answers", own / "findings", own / "pairs")
    finally:
        shutil.rmtree(own, ignore_errors=True)
