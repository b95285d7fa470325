"""What a file is made of: its type, its format, and how rows and ``info`` stand in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from crowdd.domain.transfer.exported.changes import Cursor
from crowdd.errors import InvalidValueError, NotFoundError
from crowdd.kinds.answers import AnswerField
from crowdd.kinds.exported import CONSENSUS, EVENT, VOLUNTEER
from crowdd.kinds.kind import Kind
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import Role
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN
from crowdd.languages import _
from crowdd.storage.transfer import exports
from crowdd.values import Values

KINDS: Mapping[str, Kind] = {
    "task": TASK,
    "task_run": TASK_RUN,
    "result": RESULT,
    "consensus": CONSENSUS,
    "volunteer": VOLUNTEER,
    "event": EVENT,
}
USUAL = ("task", "task_run", "result")
"""The types of a project that is exported as a whole."""
DICTIONARY = "dictionary"
FORMATS: Mapping[str, str] = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "ndjson": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.file",
    DICTIONARY: "application/json",
}
DATA_FORMATS = ("parquet", "arrow")
INFOS = ("columns", "json", "both")
ROWS = ("record", "mark", "task")


@attrs.frozen
class Options:
    """How rows stand in a file.

    ``info``: as columns of its keys, as JSON in one column, both, or "" for what is usual in the format. ``rows``: a
    row is a record, a mark in an answer, or a task with a column for each volunteer. ``raw``: texts in CSV are not
    guarded against spreadsheets. ``bom``: CSV begins with a byte order mark.
    """

    info: str = ""
    rows: str = "record"
    raw: bool = False
    bom: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether a row is an object as ``/api`` shows it, where the format has objects."""
        return self.rows == "record" and self.info in ("", "json")

    def require(self, type_: str, format_: str) -> None:
        """Passes for options that a file of this type and format can have. Raises NotFoundError, InvalidValueError."""
        if type_ not in KINDS:
            raise NotFoundError("404 Not Found", hint=f"type must be one of {', '.join(KINDS)}.")
        _require_one_of("format", format_, FORMATS)
        _require_one_of("info", self.info, ("", *INFOS))
        _require_one_of("rows", self.rows, ROWS)
        if self.rows != "record" and (type_ != "task_run" or self.info):
            raise InvalidValueError(f"rows={self.rows} requires type=task_run, and no info.")


def _require_one_of(name: str, value: str, choices: Mapping[str, str] | Sequence[str]) -> None:
    if value not in choices:
        shown = ", ".join(choice for choice in choices if choice)
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name=name, choices=shown))


@attrs.frozen
class ExportFile:
    """A file that somebody may have: its name, its type, and what it is made of.

    ``fields`` are the answer fields of the project, ``questions`` its questions (wording by name). ``since``: only what
    changed behind this cursor, with deletions, and the next cursor at the end.
    """

    name: str
    content_type: str
    format: str
    options: Options
    kind: Kind
    roles: frozenset[Role]
    chosen: exports.Chosen
    answer_key: str | None
    fields: Sequence[AnswerField] = ()
    questions: Values = attrs.field(factory=dict)
    analysis: int | None = None
    since: Cursor | None = None

    @property
    def info(self) -> str:
        """How ``info`` stands in the file: columns, json or both."""
        return self.options.info or ("json" if self.format in ("json", "ndjson") else "both")

    @property
    def is_flat(self) -> bool:
        """Whether rows are made of columns, not the objects of ``/api``."""
        return self.format not in ("json", "ndjson") or self.info != "json" or self.options.rows != "record"
