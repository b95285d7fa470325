"""What stands in an exported file: its type and format, its columns, and its first lines.

Columns are attributes, keys of ``info``, what answers say, marks of answers, and volunteers side by side. The first
lines leave before it is known what follows.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final

import attrs

from crowdd.database.access import Database
from crowdd.features.exports import column_statements, question_headings, statements, table_statements
from crowdd.features.exports import wide_statements as wide_columns
from crowdd.features.exports.annotations.annotation_format import Asked
from crowdd.features.exports.annotations.registry import annotation_formats
from crowdd.features.exports.changes import Cursor
from crowdd.features.exports.column_statements import Column, Source
from crowdd.kernel.concurrency.throttling import Turns
from crowdd.kernel.errors import NOT_FOUND, InvalidValueError, NotFoundError
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


MAX_KEYS = 1500  # columns of a table that are keys of info: a query has at most 1,664 columns
MAX_MEMBERS = 100  # of objects in a key that have a column each
MAX_VOLUNTEERS = 500  # that have a column each
_TYPES = {"label": "json", "number": "number", "text": "text", "date": "text"}  # of answer fields; all others are json
Waits = Callable[[Sequence[Column]], Awaitable[None]]
"""Is told the first columns of a file, whatever comes behind them, while keys are looked for; then []."""


async def nobody(columns: Sequence[Column]) -> None:
    """Nobody is told."""


class Tables:
    """Works out what a file is made of. ``turns``: long reading takes turns."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns

    async def of(self, tx: Database, file: ExportFile, *, typed: bool, waits: Waits = nobody) -> statements.Table:
        """The columns of a file. ``typed``: with the types of keys of ``info``, which takes longer to find out.

        Raises InvalidValueError when they are too many, NotFoundError for an analysis that is not there.
        """
        typed = typed or file.info == "wide"
        if file.options.rows == "mark" or (file.format == GEOJSON and file.kind is TASK_RUN):
            table = table_statements.select_marks(file.chosen, _attributes(file), file.fields)
        elif file.options.rows == "task":
            table = await self._by_volunteer(tx, file, typed=typed)
        else:
            table = await self._by_record(tx, file, typed=typed, waits=waits)
        if file.format == GEOJSON:
            table = table_statements.select_places(table, is_consensus=file.kind is CONSENSUS)
        if file.options.task:
            table = await self._with_tasks(tx, file, table, typed=typed, waits=waits)
        if file.info == "wide":
            table = attrs.evolve(table, columns=[column_statements.for_people(each) for each in table.columns])
        if file.options.headings:
            table = attrs.evolve(table, columns=question_headings.in_words(table.columns, file.words))
        return table

    async def _with_tasks(
        self, tx: Database, file: ExportFile, table: statements.Table, *, typed: bool, waits: Waits
    ) -> statements.Table:
        tasks = await self._of_tasks(tx, file, typed=typed, waits=waits)
        if len(table.columns) + len(tasks) > MAX_KEYS:
            raise InvalidValueError(_too_wide())
        task_id = "t.id" if file.options.rows == "task" else "t.task_id"
        return table.joined(column_statements.of_task(tasks, task_id, owns=file.chosen.owns))

    async def _by_record(self, tx: Database, file: ExportFile, *, typed: bool, waits: Waits) -> statements.Table:
        columns = _attributes(file)
        await waits(columns)
        if "info" in file.kind.by_name and file.info != "json":
            columns += await self._of_info(tx, file, typed=typed, waits=waits)
        if file.kind is RESULT:
            columns += [
                column_statements.said(file.fields, nth, of)
                for nth in range(len(file.fields))
                for of in column_statements.SAID
            ]
        return statements.table(file.kind, file.chosen, columns, await self._sources(tx, file))

    async def _of_tasks(self, tx: Database, file: ExportFile, *, typed: bool, waits: Waits) -> list[Column]:
        """The columns that the tasks of the rows have."""
        chosen = attrs.evolve(file.chosen, complete=False, volunteer="")
        columns = await self._of_info(
            tx, attrs.evolve(file, kind=TASK, chosen=chosen, options=Options(file.info)), typed=typed, waits=waits
        )
        return [column_statements.in_task(column) for column in columns]

    async def _of_info(self, tx: Database, file: ExportFile, *, typed: bool, waits: Waits) -> list[Column]:
        forms = await self._forms(tx, file, typed=typed, waits=waits)
        fields = _by_key(file.fields) if file.kind is TASK_RUN else {}
        forms_by_key = {**dict.fromkeys(fields, frozenset[str]()), **forms}
        first = await statements.imported_columns(tx, file.chosen.project_id) if file.kind is TASK else []
        first = first if file.kind is TASK else [file.answer_key or "", *fields]
        keys = in_order(forms_by_key, first)
        if file.info != "wide":
            return [each for key in keys for each in _columns(file, key, forms_by_key[key], fields.get(key))]
        columns = list[Column]()
        for key in keys:
            declared = _wide(file, key)
            if not declared and "json" in forms_by_key[key]:
                rows = statements.stored_rows(file.kind, file.chosen)
                members = await table_statements.list_members(tx, rows, file.chosen, key, MAX_MEMBERS)
                declared = [wide_columns.member(key, each) for each in members]
            columns += declared or _columns(file, key, forms_by_key[key], fields.get(key))
        if len(columns) > MAX_KEYS:
            raise InvalidValueError(_too_wide())
        return columns

    async def _forms(
        self, tx: Database, file: ExportFile, *, typed: bool, waits: Waits
    ) -> Mapping[str, frozenset[str]]:
        """The keys of ``info`` of all rows, as rows first have them, with the forms of their values if ``typed``."""
        forms_by_key: dict[str, frozenset[str]] = {}
        rows = statements.stored_rows(file.kind, file.chosen)
        after: int | None = 0
        while after is not None:
            # Nothing changes the type of a column that is json.
            known = {
                key: frozenset[str]() if type_of(forms) == "json" else forms for key, forms in forms_by_key.items()
            }
            look = partial(table_statements.list_more_info_keys, tx, rows, file.chosen, known, after, typed=typed)
            more, after = await self._turns.run("", look)
            forms_by_key |= {key: forms_by_key.get(key, frozenset()) | forms for key, forms in more.items()}
            if len(forms_by_key) > MAX_KEYS:
                raise InvalidValueError(_too_wide())
            await waits([])
        return forms_by_key

    async def _sources(self, tx: Database, file: ExportFile) -> list[Source]:
        """Further columns. Raises NotFoundError for an analysis that is not there."""
        choices = await column_statements.label_choices(tx, file.chosen.project_id)
        sources = column_statements.trusted(file.kind, choices, owns=file.chosen.owns)
        if file.kind is RESULT and file.chosen.owns:
            analysis = await column_statements.analysis(tx, file.chosen.project_id, file.analysis)
            if analysis is None and file.analysis is not None:
                raise NotFoundError(NOT_FOUND, hint=f"The project has no finished analysis {file.analysis}.")
            sources += [] if analysis is None else [column_statements.analysed(analysis)]
            sources += await column_statements.predicted(tx, file.chosen.project_id)
        return sources

    async def _by_volunteer(self, tx: Database, file: ExportFile, *, typed: bool) -> statements.Table:
        words = await table_statements.list_volunteers(tx, file.chosen, MAX_VOLUNTEERS + 1)
        if len(words) > MAX_VOLUNTEERS:
            raise InvalidValueError(
                _(
                    "The project has more than %(maximum)s volunteers, too many for a column each.",
                    maximum=MAX_VOLUNTEERS,
                )
            )
        path = file.fields[0].path if file.fields else (file.answer_key,) if file.answer_key else ()
        field = file.fields[0] if file.fields else None
        forms = await table_statements.list_value_forms(tx, file.chosen, path) if typed else frozenset[str]()
        forms -= {"nothing"} if field and field.nothing else set()
        return table_statements.select_by_volunteer(
            file.chosen, words, path, type_of(forms) if typed else "json", field
        )


def in_order(keys: Mapping[str, object], first: Sequence[str]) -> list[str]:
    """The keys that were found: those of ``first`` in its order, then the others in their own."""
    known = list(dict.fromkeys(key for key in first if key in keys))
    return [*known, *(key for key in keys if key not in set(known))]


def type_of(forms: frozenset[str]) -> str:
    """The type of a column whose values have these forms (`core/62_tables.sql`): one that has all of them exactly."""
    have = forms - {"null"}
    if not have:
        return "text"
    for type_, may_have in _HOLD.items():
        if have <= may_have:
            return type_
    return "json"


_HOLD = {
    "boolean": {"boolean"},
    "integer": {"integer", "bigint"},
    "number": {"integer", "number"},
    "decimal": {"integer", "bigint", "number", "decimal"},
    "text": {"text"},
}
_ANY = {"boolean", "integer", "bigint", "number", "decimal", "text", "nothing", "json"}


def _attributes(file: ExportFile) -> list[Column]:
    columns = column_statements.attributes(file.kind, file.kind.shown(file.roles), file.roles)
    if file.kind is RESULT and not column_statements.is_modelled(file.fields):
        columns = [each for each in columns if each.name != column_statements.MODEL]
    return [column_statements.rest_of_info(each) if _is_taken_apart(file, each) else each for each in columns]


def _is_taken_apart(file: ExportFile, column: Column) -> bool:
    return column.name == "info" and file.info in ("columns", "wide") and file.options.rows == "record"


def _wide(file: ExportFile, key: str) -> list[Column]:
    """The columns of the answers to a question that are no single values; [] for others."""
    question = file.questions.get(key) if file.kind is TASK_RUN else None
    return [] if question is None else wide_columns.of_question(question)


def _by_key(fields: Sequence[AnswerField]) -> dict[str, AnswerField]:
    """The fields that are keys of answers."""
    return {field.path[0]: field for field in fields if len(field.path) == 1}


def _columns(file: ExportFile, key: str, forms: frozenset[str], field: AnswerField | None) -> list[Column]:
    """The column of a key, and one that says why there is no value where an answer may say that."""
    if field is None or not (field.unsure or field.nothing or None in (field.choices or ())):
        return [_column(file, key, forms, field)]
    state = column_statements.state_of_info(f"info_{key}_state", key, field.unsure)
    if not field.nothing:
        return [_column(file, key, forms, field), state]
    return [column_statements.without_nothing(_column(file, key, forms - {"nothing"}, field)), state]


def _column(file: ExportFile, key: str, forms: frozenset[str], field: AnswerField | None) -> Column:
    """The column of a key. A declared type holds where all values fit it; otherwise the values decide."""
    question = file.questions.get(key) if file.kind is TASK_RUN else None
    about = wording(question)
    declared = _declared_type(field)
    if declared is not None and forms - {"null"} <= _HOLD.get(declared, _ANY):
        return column_statements.of_info(f"info_{key}", key, declared, about, "declared")
    return column_statements.of_info(f"info_{key}", key, type_of(forms) if forms else "json", about, "values")


def wording(question: Values | None) -> str:
    """What a question asks; "" without one."""
    text = (question or {}).get("text")
    return text if isinstance(text, str) else ""


def _declared_type(field: AnswerField | None) -> str | None:
    if field is None:
        return None
    if field.type == "label" and field.choices is not None:
        kinds = {type(choice) for choice in field.choices if choice is not None}
        return "text" if kinds == {str} else "boolean" if kinds == {bool} else None
    return None if field.type == "label" else _TYPES.get(field.type, "json")


def _too_wide() -> str:
    maximum = f"{MAX_KEYS:,}"
    return _(
        "The rows have more than %(maximum)s different keys, too many for a table. Download JSON instead.",
        maximum=maximum,
    )


EARLY: Final = 0.1  # seconds after which the beginning leaves alone
Sink = Callable[[bytes, int], None]
"""Takes a part of a file and how many rows are in it."""
Known = Callable[[Sequence[Column]], Awaitable[bytes]]
"""What a file begins with whose first columns are these, whatever comes behind them."""


class Head:
    """A sink for a file whose columns may take long to find out."""

    def __init__(self, known: Known, sink: Sink) -> None:
        self._known, self._sink = known, sink
        self._until = time.monotonic() + EARLY
        self._first: Sequence[Column] = ()
        self._is_out = False
        self._sent = b""  # of the parts that are still to come

    async def wait(self, columns: Sequence[Column]) -> None:
        """Sends the beginning if it has taken long. ``columns`` are the first ones; [] if they were told before."""
        self._first = self._first or columns
        if self._is_out or not self._first or time.monotonic() <= self._until:
            return
        self._is_out = True
        self._sent = await self._known(self._first)
        self._sink(self._sent, 0)

    def write(self, part: bytes, rows: int) -> None:
        """Takes the whole file, and passes on what has not left. Raises RuntimeError if it begins otherwise."""
        if self._sent:
            n = min(len(part), len(self._sent))
            if part[:n] != self._sent[:n]:
                raise RuntimeError("The file does not begin with the bytes that were sent.")
            part, self._sent = part[n:], self._sent[n:]
        self._sink(part, rows)
