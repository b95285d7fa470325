"""Which columns an exported file has: attributes, keys of ``info``, what answers say, marks, volunteers side by side.

Each has the attributes that its reader may see (``Kind.shown``). The columns of tasks that a project hides are taken
out in the database (``definitions/core/58_hidden_columns.sql``).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

import attrs

from crowdd.database.access import Database
from crowdd.features.exports import column_statements, question_headings, statements, table_statements
from crowdd.features.exports import wide_statements as wide_columns
from crowdd.features.exports.column_statements import Column, Source
from crowdd.features.exports.formats import GEOJSON, ExportFile, Options
from crowdd.kernel.concurrency.throttling import Turns
from crowdd.kernel.errors import NOT_FOUND, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kinds.answers import AnswerField
from crowdd.kinds.exported import CONSENSUS
from crowdd.kinds.result import RESULT
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN

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
        if file.kind in (TASK, TASK_RUN, RESULT) and file.chosen.owns:
            sources += await column_statements.chained(tx, file.kind, file.chosen.project_id)
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
    about = question_headings.wording(question)
    declared = _declared_type(field)
    if declared is not None and forms - {"null"} <= _HOLD.get(declared, _ANY):
        return column_statements.of_info(f"info_{key}", key, declared, about, "declared")
    return column_statements.of_info(f"info_{key}", key, type_of(forms) if forms else "json", about, "values")


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
