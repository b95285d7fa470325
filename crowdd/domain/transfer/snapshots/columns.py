"""What stands in the files of a snapshot: their columns, each with its type and meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

FORMAT: Final = 1
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
        _column(
            "reason", "string", "Why the task was complete: sure, full, none, expert, analysis; null without a label."
        ),
        _column(
            "confidence",
            "number",
            "How probable the choice of the first field is, or the share of equal answers.",
        ),
        _column("posterior", "any", "The probability of each choice, if the first answer field is a label."),
        _column("consensus", "any", "What the counted answers say together, by the names of the answer fields."),
        _column("info", "any", "What the owners conclude from the answers."),
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
DOCUMENTS: Final = (
    "project.json", "presenter.html", "tutorial.html", "results.html", "questions.json", "answer_fields.json",
    "guided_tutorial.json", "field_guide.json",
)  # fmt: skip
"""Further files of the content; those that the project does not have are left out."""
MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".ndjson": "application/x-ndjson",
    ".json": "application/json",
    ".html": "text/html",
    ".md": "text/markdown",
    ".cff": "text/yaml",
    ".txt": "text/plain",
}


def media_type(name: str) -> str:
    """The type of a file by its name."""
    return MEDIA_TYPES["." + name.rpartition(".")[2]]


def table_columns() -> Mapping[str, Sequence[Column]]:
    """All tables, with the one of identifiers."""
    return {**TABLES, IDENTIFIERS: IDENTIFIER_COLUMNS}
