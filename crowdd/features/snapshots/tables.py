"""The tables of a snapshot: their columns with type and meaning, and rows numbered, canonical and without ids."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Final, cast

import attrs

from crowdd.features.snapshots.canonical_json import dumps, encode_line, parsed
from crowdd.features.snapshots.figures import Figures
from crowdd.features.snapshots.zip_stream import FileEntry, WrittenFile
from crowdd.kernel.values import Values

FORMAT: Final = 2
"""Number of this layout. It is part of the hash: another layout is other content."""


@attrs.frozen
class Column:
    """A column: ``type`` is integer, number, string, boolean, time, list, object or any."""

    name: str
    type: str
    doc: str


def _column(name: str, type_: str, doc: str) -> Column:
    return Column(name, type_, doc)


_TASK: Final = _column("task", "integer", "Number of the task in this snapshot, from 1, oldest first.")
_ANSWER: Final = _column("answer", "integer", "Number of the answer in this snapshot, from 1, oldest first.")
_VOLUNTEER: Final = _column(
    "volunteer",
    "string",
    "Random code, the same for all answers of a volunteer in this project. null if they deleted their account.",
)

TABLES: Final[Mapping[str, Sequence[Column]]] = {
    "tasks.ndjson": (
        _TASK,
        _column("info", "any", "What the presenter shows. Columns that are hidden from volunteers are left out."),
        _column("n_answers", "integer", "Number of answers that the task needs (redundancy)."),
        _column("priority_0", "number", "Tasks with a higher priority come first."),
        _column("state", "string", "ongoing or completed."),
        _column("closed", "string", "Why it needs no more answers: complete, retired, cancelled; null while it does."),
    ),
    "answers.ndjson": (
        _ANSWER,
        _TASK,
        _VOLUNTEER,
        _column("info", "any", "The answer."),
        _column("created", "time", "When the task was assigned (UTC)."),
        _column("finish_time", "time", "When the answer was stored (UTC)."),
        _column("timeout", "number", "Seconds after the lease expired; null if the answer was in time."),
        _column("media_url", "string", "Address of a file sent with the answer."),
        _column("class", "any", "The choice that it says at the first answer field; null if it does not fit, too."),
        _column("fits", "boolean", "Whether it says one of the choices, such as can't tell; null without a label."),
        _column("counted", "boolean", "Whether it counts."),
        _column("not_counted", "string", "Why it does not: late, unreliable, repeated, set_aside or gold."),
        _column("right", "boolean", "Whether it was right; of an answer to a gold task."),
        _column("questions_version", "integer", "Version of the questions that it answers; null without questions."),
    ),
    "results.ndjson": (
        _column(
            "result",
            "integer",
            "Number of the result in this snapshot, from 1, oldest first.",
        ),
        _TASK,
        _column("answers", "list", "Numbers of the answers that count."),
        _column("last_version", "boolean", "false if a later result of the task replaced it."),
        _column("created", "time", "When the task was completed (UTC)."),
        _column("reason", "string", "Why the task was complete: sure, full, none, expert, analysis; or null."),
        _column(
            "confidence",
            "number",
            "How many results are right of which the model says as much (recalibration in figures.json); null until"
            " that is measured. Without a label, the share of equal answers.",
        ),
        _column("posterior", "any", "What the model says of each choice, if the first answer field is a label."),
        _column("consensus", "any", "What the counted answers say together, by the names of the answer fields."),
        _column("info", "any", "What the owners conclude from the answers."),
        _column(
            "model",
            "any",
            "If the first answer field is a label: choices, class (number of the most probable one), and of what"
            " answers say also prior (ln), answers (with class, accuracy of the volunteer, weight in the network, and"
            " what they add: log_likelihoods by choice), posterior, when the task was to stop:"
            " min_answers, confidence, max_answers, and the rule that completed it (name, version).",
        ),
        _column("sample", "integer", "Class that an expert said without seeing the result, if it was drawn at random."),
    ),
    "gold.ndjson": (
        _TASK,
        _column("right", "list", "The answers that are right about this gold task."),
        _column("rule", "any", "How answers are compared with them; null: by the type of the first answer field."),
        _column("since", "time", "Since when it was a gold task (UTC)."),
        _column("ended", "time", "When it ended (UTC); null: it has not."),
    ),
    "rules.ndjson": (
        _column("version", "integer", "Number of this list of rules. Lists that decided nothing are left out."),
        _column("since", "time", "Since when it held (UTC), until the next one."),
        _column("rules", "list", "The rules, as in info.task_rules."),
    ),
    "decisions.ndjson": (
        _TASK,
        _column("rule", "string", "Name of the rule that decided about the task."),
        _column("version", "integer", "Version of the rules."),
        _column("kind", "string", "What it did: complete, more_answers or review."),
        _column("at", "time", "When it did that (UTC)."),
        _column("n_answers", "integer", "Number of answers that counted by then."),
        _column("answers", "list", "Their numbers, in their order; null in it: it was deleted. null: unknown."),
        _column("classes", "list", "Number of the choice of each; null: it does not fit."),
        _column("accuracies", "list", "How accurate the volunteer of each was taken to be then."),
        _column("confidence", "number", "The confidence by then; null: no choice was more probable than others."),
        _column("choices", "list", "The choices in the order of their numbers; null: the project has others by now."),
    ),
    "volunteers.ndjson": (
        attrs.evolve(_VOLUNTEER, doc="Random code, the same for all answers of a volunteer in this project."),
        _column("answers", "integer", "Number of their answers in this snapshot."),
        _column("first", "time", "When their first answer was stored (UTC)."),
        _column("last", "time", "When their last answer was stored (UTC)."),
    ),
}
"""The tables of a snapshot, by the names of their files: one JSON object per line, in the order of the first column."""

IDENTIFIERS: Final = "identifiers.ndjson"
"""Which number is which id on the server. It is no part of the content: other servers give other ids."""
IDENTIFIER_COLUMNS: Final = (
    _column("kind", "string", "task, answer or result."),
    _column("number", "integer", "Number in this snapshot."),
    _column("id", "integer", "Id on the server."),
    _column("created", "time", "When the task was added (UTC); null for answers and results."),
)
MANIFEST: Final = "manifest.json"
MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".ndjson": "application/x-ndjson",
    ".json": "application/json",
    ".html": "text/html",
    ".md": "text/markdown",
    ".cff": "text/yaml",
    ".txt": "text/plain",
    ".py": "text/x-python",
}


def media_type(name: str) -> str:
    """The type of a file by its name."""
    return MEDIA_TYPES["." + name.rpartition(".")[2]]


def table_columns() -> Mapping[str, Sequence[Column]]:
    """All tables, with the one of identifiers."""
    return {**TABLES, IDENTIFIERS: IDENTIFIER_COLUMNS}


MAX_KEYS: Final = 2000
"""Keys of ``info`` that a data dictionary names."""


class Numbers:
    """Numbers of rows by their ids, which come in ascending order."""

    def __init__(self) -> None:
        self._ids: array[int] = array("q")

    def add(self, row_id: int) -> int:
        """The number of the next row."""
        self._ids.append(row_id)
        return len(self._ids)

    def get(self, row_id: int) -> int | None:
        """The number of a row; None for one that is not there."""
        at = bisect_left(self._ids, row_id)
        return at + 1 if at < len(self._ids) and self._ids[at] == row_id else None


@attrs.define
class Keys:
    """Keys of ``info`` of a table, in the order in which rows first have them: which types, and in how many rows."""

    found: dict[str, dict[str, int]] = attrs.field(factory=dict)
    more: bool = False

    def note(self, info: object) -> None:
        """Looks at a row."""
        if not isinstance(info, dict):
            return
        for key, value in info.items():
            if key not in self.found and len(self.found) >= MAX_KEYS:
                self.more = True
                continue
            types = self.found.setdefault(key, {})
            name = type_of(value)
            types[name] = types.get(name, 0) + 1


def type_of(value: object) -> str:
    """The name of a JSON type; whole numbers are integers."""
    if value is None:
        return "null"
    names: dict[type, str] = {
        bool: "boolean",
        int: "integer",
        float: "number",
        Decimal: "number",
        str: "string",
        dict: "object",
    }
    return names.get(type(value), "array")


@attrs.define
class _Volunteer:
    answers: int
    first: str
    last: str


@attrs.define(eq=False)
class Tables:
    """Writes the tables of a snapshot from ``raw`` into ``folder``. Call ``write`` once."""

    raw: Path
    folder: Path
    keys: dict[str, Keys] = attrs.field(factory=dict)
    redundancy: list[int] = attrs.field(factory=list)
    figures: Figures = attrs.field(factory=Figures)
    _tasks: Numbers = attrs.field(factory=Numbers)
    _answers: Numbers = attrs.field(factory=Numbers)
    _results: Numbers = attrs.field(factory=Numbers)
    _volunteers: dict[str, _Volunteer] = attrs.field(factory=dict)

    def write(self) -> list[FileEntry]:
        """The files that were written."""
        identifiers = WrittenFile(self.folder, IDENTIFIERS, content=False)
        files = [
            self._table("tasks.ndjson", self._task, identifiers),
            self._table("answers.ndjson", self._answer, identifiers),
            self._table("results.ndjson", self._result, identifiers),
            self._write_gold(),
            self._write_rules(),
            self._write_decisions(),
            self._write_volunteers(),
        ]
        return [*files, identifiers.end()]

    def _table(self, name: str, row_of: Callable[[Values], tuple[str, int] | None], ids: WrittenFile) -> FileEntry:
        out = WrittenFile(self.folder, name, content=True)
        keys = self.keys.setdefault(name, Keys())
        columns = [column.name for column in TABLES[name]]
        for row, slow in self._rows(name):
            row_id, created = row["id"], row.get("created")
            kind_and_number = row_of(row)
            if kind_and_number is None:
                continue  # its task was left out
            kind, number = kind_and_number
            keys.note(row["info"])
            out.write_row(encode_line({column: row[column] for column in columns}, slow))
            added = created if kind == "task" else None
            ids.write_row(dumps({"kind": kind, "number": number, "id": row_id, "created": added}))
        return out.end()

    def _rows(self, name: str) -> Iterator[tuple[Values, bool]]:
        with (self.raw / name).open("rb") as lines:
            for text in lines:
                row, slow = parsed(text)
                yield cast(Values, row), slow

    def _task(self, row: Values) -> tuple[str, int]:
        row["task"] = self._tasks.add(row["id"])
        n = row["n_answers"]
        self.redundancy = [min(n, *self.redundancy), max(n, *self.redundancy)] if self.redundancy else [n, n]
        return "task", row["task"]

    def _answer(self, row: Values) -> tuple[str, int] | None:
        row["task"] = self._tasks.get(row["task_id"])
        if row["task"] is None:
            return None
        row["answer"] = self._answers.add(row["id"])
        self.figures.note_answer(row["class"], row["fits"])
        if row["volunteer"] is not None:
            self._note_volunteer(row["volunteer"], row["finish_time"])
        return "answer", row["answer"]

    def _result(self, row: Values) -> tuple[str, int] | None:
        row["task"] = self._tasks.get(row["task_id"])
        if row["task"] is None:
            return None
        row["result"] = self._results.add(row["id"])
        numbers = (self._answers.get(each) for each in row["task_run_ids"])
        row["answers"] = [number for number in numbers if number is not None]
        model = row["model"] or {}
        for each in model.get("answers", ()):
            each["answer"] = self._answers.get(each["answer"])  # null: it was deleted
        if "prior" in model:  # the posterior with all its digits
            for each, probability in zip(row["posterior"] or (), model["posterior"], strict=False):
                each["probability"] = probability
            if row["confidence"] is not None:
                row["confidence"] = self.figures.confidence_of(model["posterior"])
        self.figures.note_result(row["answers"], row["model"], row["sample"], last=row["last_version"])
        return "result", row["result"]

    def _write_gold(self) -> FileEntry:
        out = WrittenFile(self.folder, "gold.ndjson", content=True)
        for row, slow in self._rows("gold.ndjson"):
            row["task"] = self._tasks.get(row["id"])
            if row["task"] is not None:
                out.write_row(encode_line({column.name: row[column.name] for column in TABLES["gold.ndjson"]}, slow))
        return out.end()

    def _write_rules(self) -> FileEntry:
        out = WrittenFile(self.folder, "rules.ndjson", content=True)
        for row, slow in self._rows("rules.ndjson"):
            out.write_row(encode_line(row, slow))
        return out.end()

    def _write_decisions(self) -> FileEntry:
        out = WrittenFile(self.folder, "decisions.ndjson", content=True)
        for row, slow in self._rows("decisions.ndjson"):
            task = self._tasks.get(row["id"])
            for each in row["decisions"] if task is not None else ():
                numbers = None if each["answers"] is None else [self._answers.get(one) for one in each["answers"]]
                out.write_row(encode_line({**each, "task": task, "answers": numbers}, slow))
        return out.end()

    def _note_volunteer(self, code: str, time: str) -> None:
        known = self._volunteers.get(code)
        if known is None:
            self._volunteers[code] = _Volunteer(1, time, time)
            return
        known.answers += 1
        known.first, known.last = min(known.first, time), max(known.last, time)

    def _write_volunteers(self) -> FileEntry:
        out = WrittenFile(self.folder, "volunteers.ndjson", content=True)
        for code, known in sorted(self._volunteers.items()):
            out.write_row(dumps({"volunteer": code, **attrs.asdict(known)}))
        return out.end()
