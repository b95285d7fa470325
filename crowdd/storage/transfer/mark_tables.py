"""Answers taken apart or put together: a row for each mark in an answer, or for each task with a column for each volunteer."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from crowdd.kinds.answers import AnswerField
from crowdd.kinds.task_run import TASK_RUN
from crowdd.storage.database import Database, one
from crowdd.storage.transfer.export_columns import STATES, Column, literal, state
from crowdd.storage.transfer.exports import Chosen, Table, rows_of

_MARKED = frozenset({"boxes", "points", "polygon", "spans", "labels"})
_NUMBERS = ("x", "y", "width", "height", "start", "end")


def marks(chosen: Chosen, columns: Sequence[Column], fields: Sequence[AnswerField]) -> Table:
    """A row for each element of an array in an answer: of the answer fields that are arrays, or without any of the keys.

    An answer without a mark at a field has one row for it, whose state says why. ``columns`` are those of an answer,
    which each of its marks has.
    """
    arrays = (
        "(SELECT key, value, nth, 'answered' FROM jsonb_each(CASE WHEN jsonb_typeof(t.info) = 'object' THEN t.info END)"
        " WITH ORDINALITY k(key, value, nth)) f(field, marks, nth, state)"
    )
    declared = [field for field in fields if field.type in _MARKED]
    if declared:
        each = (
            f"({literal(f.name)}::text, {value_at('t.info', f.path)}, {n}, {state(said_at('t.info', f.path), f.unsure)})"
            for n, f in enumerate(declared)
        )
        arrays = f"(VALUES {', '.join(each)}) f(field, marks, nth, state)"
    rows = (
        f"(SELECT t.*, f.field, f.state, e.mark, e.nth AS mark_nth FROM (SELECT t.* FROM {rows_of(TASK_RUN, chosen)}) t CROSS JOIN LATERAL {arrays}"
        " LEFT JOIN LATERAL jsonb_array_elements(CASE WHEN jsonb_typeof(f.marks) = 'array' THEN f.marks END)"
        " WITH ORDINALITY e(mark, nth) ON true WHERE e.mark IS NOT NULL OR f.state <> 'answered') t"
    )
    of_mark = [
        Column("field", "text", "t.field", about="Name of the answer field, or the key of the answer."),
        Column("mark", "integer", "t.mark_nth", about="Number of the mark in the answer, from 1."),
        *(_number(name) for name in _NUMBERS),
        Column("label", "text", "(t.mark->>'label')", about="Label of the mark."),
        Column("value", "json", "t.mark", True, "The mark as it was stored."),
        Column("state", "text", "t.state", about=f"{STATES}; only answered has a mark."),
    ]
    return Table(rows, chosen, [*(column for column in columns if column.name != "info"), *of_mark])


def by_volunteer(
    chosen: Chosen, words: Sequence[str], path: Sequence[str], type_: str, field: AnswerField | None
) -> Table:
    """A row for each task with answers: what each of these volunteers says at a place of the answer, that of ``field``.

    A field whose answers may be no value has a second column for each volunteer, which says why there is none.
    """
    has_states = field is not None and bool(field.unsure or field.nothing)
    states = (
        f", jsonb_object_agg(t.volunteer, {state(said_at('t.info', path), field.unsure)}) AS states" if field else ""
    )
    rows = (
        f"(SELECT t.task_id AS id, t.project_id, jsonb_object_agg(t.volunteer, {value_at('t.info', path)}) AS info{states if has_states else ''}"
        f" FROM (SELECT t.* FROM {rows_of(TASK_RUN, chosen)}) t GROUP BY t.project_id, t.task_id) t"
    )
    columns = [Column("task_id", "integer", "t.id", about="Id of the task.")]
    for word in words:
        value = Column(
            word, type_, f"(t.info->{literal(word)})", True, "What the volunteer with this code says.", "values"
        )
        if field and field.nothing:
            value = attrs.evolve(value, sql=f"nullif({value.sql}, '[]')")
        columns.append(value)
        if has_states:
            columns.append(Column(f"{word}_state", "text", f"(t.states->>{literal(word)})", about=STATES))
    return Table(rows, chosen, columns)


async def volunteers(tx: Database, chosen: Chosen, maximum: int) -> list[str]:
    """The codes of volunteers who have answered, in their order; no more than so many."""
    row = await one(
        tx,
        f"SELECT array_agg(volunteer ORDER BY volunteer) AS words FROM (SELECT DISTINCT t.volunteer FROM {rows_of(TASK_RUN, chosen)}"
        " AND t.volunteer IS NOT NULL LIMIT %(maximum)s) t",
        chosen.values(0, maximum),
    )
    return list(row["words"] or [])


async def forms(tx: Database, chosen: Chosen, path: Sequence[str]) -> frozenset[str]:
    """The forms of the values at a place of the answers (definitions 62)."""
    value = value_at("t.info", path)
    row = await one(
        tx,
        f"SELECT array_agg(DISTINCT json_form({value})) FILTER (WHERE {value} IS NOT NULL) AS forms FROM {rows_of(TASK_RUN, chosen)}",
        chosen.values(0, 0),
    )
    return frozenset(row["forms"] or [])


def value_at(info: str, path: Sequence[str]) -> str:
    """An expression: what stands at a place of a jsonb."""
    return f"({info} #> ARRAY[{', '.join(map(literal, path))}]::text[])" if path else info


def said_at(info: str, path: Sequence[str]) -> str:
    """An expression: the same, or what stands in its place on the way to it (definitions 26)."""
    if len(path) < 2:
        return value_at(info, path)
    return f"said_at({info}, ARRAY[{', '.join(map(literal, path))}]::text[])"


def _number(name: str) -> Column:
    """A number of a mark; null if it has none there."""
    sql = f"(CASE WHEN jsonb_typeof(t.mark->'{name}') = 'number' THEN t.mark->'{name}' END)"
    return Column(name, "number", sql, True, "Of the mark, in the units of its question.")
