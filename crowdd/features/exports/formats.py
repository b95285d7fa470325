"""What can be exported, in which formats and with which options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from crowdd.features.exports import statements
from crowdd.features.exports.annotations.annotation_format import Asked
from crowdd.features.exports.annotations.registry import annotation_formats
from crowdd.features.exports.changes import Cursor
from crowdd.kernel.errors import InvalidValueError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.answers import AnswerField
from crowdd.kinds.answers.words import Words
from crowdd.kinds.exported import CONSENSUS, EVENT, VOLUNTEER
from crowdd.kinds.kind import Kind
from crowdd.kinds.prediction import PREDICTION
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import Role
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN

KINDS: Mapping[str, Kind] = {
    "task": TASK,
    "task_run": TASK_RUN,
    "result": RESULT,
    "consensus": CONSENSUS,
    "volunteer": VOLUNTEER,
    "event": EVENT,
    "prediction": PREDICTION,
}
USUAL = ("task", "task_run", "result")
"""The types of a project that is exported as a whole."""
DICTIONARY = "dictionary"
FORMATS: Mapping[str, str] = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "ndjson": "application/x-ndjson",
    "geojson": "application/geo+json",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.file",
    DICTIONARY: "application/json",
}
OF_MARKS = ("task_run", "result")
"""Types that leave in the formats of other programs for marks (``annotations``)."""
DATA_FORMATS = ("parquet", "arrow")
GEOJSON = "geojson"
OF_PLACES = ("task_run", "consensus")
"""Types that may have places and areas on maps."""
WORKBOOK = "workbook"
"""The type of a file with the sheets of all usual kinds."""
SHEETS = ("result", "task_run", "task")
"""What a workbook has, in its order."""
INFOS = ("columns", "wide", "json", "both")
ROWS = ("record", "mark", "task")
SEPARATORS: Mapping[str, str] = {"comma": ",", "semicolon": ";", "tab": "\t"}
OF_TASKS = ("task_run", "result", "consensus")
"""Types whose rows belong to a task."""


@attrs.frozen
class Options:
    """How rows stand in a file.

    ``info``: as columns of its keys, as JSON in one column, both, or "" for what is usual in the format. ``rows``: a
    row is a record, a mark in an answer, or a task with a column for each volunteer. ``raw``: texts in CSV are not
    guarded against spreadsheets. ``bom``: CSV begins with a byte order mark. ``task``: "columns" for those of its task
    in each row. ``separator``: between the cells of CSV, one of SEPARATORS. ``headings``: the language of the words of
    questions that stand above columns, "" for the names of columns.
    """

    info: str = ""
    rows: str = "record"
    raw: bool = False
    bom: bool = False
    task: str = ""
    separator: str = "comma"
    headings: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether a row is an object as ``/api`` shows it, where the format has objects."""
        return self.rows == "record" and self.info in ("", "json") and not self.task

    def of_type(self, type_: str) -> Options:
        """The same for a type of which not all rows may belong to a task."""
        return self if type_ in (*OF_TASKS, WORKBOOK) else attrs.evolve(self, task="")

    def require(self, type_: str, format_: str) -> None:
        """Passes for options that a file of this type and format can have. Raises NotFoundError, InvalidValueError."""
        if type_ not in KINDS and (type_, format_) != (WORKBOOK, "xlsx"):
            hint = f"type must be one of {', '.join(KINDS)}, or {WORKBOOK} with format=xlsx."
            raise NotFoundError("404 Not Found", hint=hint)
        _require_one_of("format", format_, content_types())
        if format_ in annotation_formats():
            if type_ not in OF_MARKS:
                raise InvalidValueError(f"format={format_} requires type={', '.join(OF_MARKS)}.")
            if self.info or self.rows != "record" or self.task:
                raise InvalidValueError(f"format={format_} has no info, rows and task.")
        _require_one_of("info", self.info, ("", *INFOS))
        _require_one_of("rows", self.rows, ROWS)
        _require_one_of("task", self.task, ("", "columns"))
        _require_one_of("separator", self.separator, SEPARATORS)
        if format_ == GEOJSON and type_ not in OF_PLACES:
            raise InvalidValueError(f"format=geojson requires type={', '.join(OF_PLACES)}.")
        if self.rows != "record" and (type_ != "task_run" or self.info):
            raise InvalidValueError(f"rows={self.rows} requires type=task_run, and no info.")


def content_types() -> Mapping[str, str]:
    """The content types of all formats, by their names."""
    return {**FORMATS, **{name: each.content_type for name, each in annotation_formats().items()}}


def _require_one_of(name: str, value: str, choices: Mapping[str, str] | Sequence[str]) -> None:
    if value not in choices:
        shown = ", ".join(choice for choice in choices if choice)
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name=name, choices=shown))


@attrs.frozen
class ExportFile:
    """A file that somebody may have: its name, its type, and what it is made of.

    ``fields`` are the answer fields of the project, ``questions`` its questions by name, ``words`` their words where
    these stand above columns. ``since``: only what
    changed behind this cursor, with deletions, and the next cursor at the end. ``sheets``: what else a workbook has.
    ``asked``: the questions whose marks stand in a format of other programs.
    """

    name: str
    content_type: str
    format: str
    options: Options
    kind: Kind
    roles: frozenset[Role]
    chosen: statements.Chosen
    answer_key: str | None
    fields: Sequence[AnswerField] = ()
    questions: Values = attrs.field(factory=dict)
    words: Mapping[str, Words] = attrs.field(factory=dict)
    analysis: int | None = None
    since: Cursor | None = None
    sheets: Sequence[ExportFile] = ()
    asked: Sequence[Asked] = ()

    @property
    def info(self) -> str:
        """How ``info`` stands in the file: columns, json or both."""
        if self.options.info:
            return self.options.info
        return {"json": "json", "ndjson": "json", "xlsx": "wide"}.get(self.format, "both")

    @property
    def is_flat(self) -> bool:
        """Whether rows are made of columns, not the objects of ``/api``."""
        options = self.options
        return (
            self.format not in ("json", "ndjson")
            or self.info != "json"
            or options.rows != "record"
            or bool(options.task)
        )
