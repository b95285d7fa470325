"""SQL of exported tables: rows per mark, columns per volunteer, keys of ``info``, and changes behind a position.

* Changes are rows, and ids of rows that were deleted (`transfer/66_changes.sql`, record 30). A position is the number of a
  transaction, so that none appears late before the horizon of a snapshot. The statements of one reading belong in one
  transaction that ``exports.statements.begin`` has begun.
* Keys of ``info`` and the forms of their values are read window by window in the order of ids. Most rows have only what
  earlier rows have. That is a cheap question for each row; only rows with something new are taken apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from crowdd.database.access import Database, one
from crowdd.features.exports import wide_statements
from crowdd.features.exports.column_statements import STATES, Column, literal, state
from crowdd.features.exports.statements import CHANGED, ORDER, Chosen, Lines, Table, json_lines, rows_of
from crowdd.kinds.answers import AnswerField
from crowdd.kinds.answers.reading import MARKS
from crowdd.kinds.result import RESULT
from crowdd.kinds.task_run import TASK_RUN

_MARKED = MARKS | {"polygon", "labels", "transcript", "ranking"}
_NUMBERS = ("x", "y", "width", "height", "start", "end")
_PLACES = ("longitude", "latitude")
_NOT_OF_PLACES = frozenset({*_NUMBERS, *_PLACES, "text", "outline", "value", "state"})


def select_marks(chosen: Chosen, columns: Sequence[Column], fields: Sequence[AnswerField]) -> Table:
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
        *(wide_statements.coordinate(name, nth) for nth, name in enumerate(_PLACES)),
        Column("label", "text", "(t.mark->>'label')", about="Label of the mark."),
        Column("text", "text", "(t.mark->>'text')", about="Text of the mark."),
        Column("outline", "text", "mark_outline(t.mark)", about="Line or area, as well-known text (WKT)."),
        Column("value", "json", "t.mark", True, "The mark as it was stored."),
        Column("state", "text", "t.state", about=f"{STATES}; only answered has a mark."),
    ]
    return Table(rows, chosen, [*(column for column in columns if column.name != "info"), *of_mark])


def select_said(chosen: Chosen, *, results: bool) -> Table:
    """What answers, or last results, say by question, with what volunteers see of the task."""
    rows, by, answer = rows_of(RESULT if results else TASK_RUN, chosen), "t.volunteer", "t.info"
    if results:
        rows, by = f"{rows} AND t.last_version", "''::text"
        answer = "(SELECT jsonb_object_agg(c.key, c.value -> 'value') FROM jsonb_each(t.consensus) c WHERE c.value ? 'value')"
    task = "(SELECT k.info FROM public_task k WHERE k.project_id = t.project_id AND k.id = t.task_id)"
    columns = [
        Column("task_id", "integer", "t.task_id"),
        Column("by", "text", by),
        Column("said", "json", answer, True),
        Column("task", "json", task, True),
    ]
    return Table(rows, chosen, columns)


def select_places(table: Table, *, is_consensus: bool) -> Table:
    """The marks of a table of ``select_marks`` that lie on a map, or those in the values of a table of consensus."""
    rows, columns = table.rows, list(table.columns)
    if is_consensus:
        rows = (
            f"(SELECT t.*, e.mark, e.nth AS mark_nth FROM (SELECT t.* FROM {rows}) t CROSS JOIN LATERAL"
            " jsonb_array_elements(CASE WHEN jsonb_typeof(t.value) = 'array' THEN t.value END) WITH ORDINALITY e(mark, nth)) t"
        )
        columns += [
            Column("mark", "integer", "t.mark_nth", about="Number of the mark in the consensus, from 1."),
            Column("label", "text", "(t.mark->>'label')", about="Label of the mark."),
        ]
    return attrs.evolve(
        table,
        rows=f"(SELECT t.* FROM {rows} WHERE jsonb_typeof(t.mark->'geometry') = 'object') t",
        columns=[column for column in columns if column.name not in _NOT_OF_PLACES],
    )


def select_by_volunteer(
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


async def list_volunteers(tx: Database, chosen: Chosen, maximum: int) -> list[str]:
    """The codes of volunteers who have answered, in their order; no more than so many."""
    row = await one(
        tx,
        f"SELECT array_agg(volunteer ORDER BY volunteer) AS words FROM (SELECT DISTINCT t.volunteer FROM {rows_of(TASK_RUN, chosen)}"
        " AND t.volunteer IS NOT NULL LIMIT %(maximum)s) t",
        chosen.values(0, maximum),
    )
    return list(row["words"] or [])


async def list_value_forms(tx: Database, chosen: Chosen, path: Sequence[str]) -> frozenset[str]:
    """The forms of the values at a place of the answers (`core/62_tables.sql`)."""
    value = value_at("t.info", path)
    row = await one(
        tx,
        f"SELECT array_agg(DISTINCT json_form({value})) FILTER (WHERE {value} IS NOT NULL) AS forms FROM {rows_of(TASK_RUN, chosen)}",
        chosen.values(0, 0),
    )
    return frozenset(row["forms"] or [])


async def list_members(tx: Database, rows: str, chosen: Chosen, key: str, maximum: int) -> list[str]:
    """The keys of the objects at a key of ``info``; [] where some values are none, or where they are too many."""
    value = f"t.info->{literal(key)}"
    row = await one(
        tx,
        "SELECT bool_and(v.value IS NOT NULL AND jsonb_typeof(v.value) IN ('object', 'null')) AS whole, array_agg(DISTINCT m.key) AS keys"
        f" FROM (SELECT {value} AS value FROM {rows} AND {value} IS NOT NULL) v"
        " LEFT JOIN LATERAL jsonb_object_keys(CASE WHEN jsonb_typeof(v.value) = 'object' THEN v.value END) m(key) ON true",
        chosen.values(0, 0),
    )
    keys = [each for each in row["keys"] or [] if each is not None]
    return sorted(keys) if row["whole"] and len(keys) <= maximum else []


def value_at(info: str, path: Sequence[str]) -> str:
    """An expression: what stands at a place of a jsonb."""
    return f"({info} #> ARRAY[{', '.join(map(literal, path))}]::text[])" if path else info


def said_at(info: str, path: Sequence[str]) -> str:
    """An expression: the same, or what stands in its place on the way to it (`tasks/26_answer_values.sql`)."""
    if len(path) < 2:
        return value_at(info, path)
    return f"said_at({info}, ARRAY[{', '.join(map(literal, path))}]::text[])"


def _number(name: str) -> Column:
    """A number of a mark; null if it has none there."""
    sql = f"(CASE WHEN jsonb_typeof(t.mark->'{name}') = 'number' THEN t.mark->'{name}' END)"
    return Column(name, "number", sql, True, "Of the mark, in the units of its question.")


START_POSITION = -1
"""The position before everything."""
PRUNED = 5000  # tombstones of one transaction


@attrs.frozen
class Feed:
    """How far the changes of a kind in a project go.

    ``horizon``: nothing appears before this position any more. ``base``: positions up to it are from before the database
    moved; ``moved`` is the last of them. ``pruned``: tombstones up to it may be missing. ``epoch`` is another when all rows
    look different.
    """

    horizon: int
    base: int
    epoch: int
    pruned: int
    moved: int


async def read_feed(db: Database, project_id: int, table: str) -> Feed:
    """As of the snapshot of this statement; ``table`` is that of the kind."""
    row = await one(
        db,
        "SELECT change_horizon() AS horizon, c.change_base AS base, coalesce(f.epoch, 0) AS epoch, coalesce(f.pruned, 0) AS pruned,"
        " coalesce(f.moved, 0) AS moved FROM cluster c LEFT JOIN change_feed f ON f.project_id = %(project)s AND f.kind = %(kind)s",
        {"project": project_id, "kind": table},
    )
    return Feed(**row)


async def find_last_change(db: Database, project_id: int, table: str, after: int, horizon: int) -> int | None:
    """The position of the last change behind ``after`` and before ``horizon``; None if there is none."""
    row = await one(
        db,
        "SELECT last_change(%(project)s, %(kind)s, %(after)s, %(horizon)s) AS last",
        {"project": project_id, "kind": table, "after": after, "horizon": horizon},
    )
    return None if row["last"] is None else int(row["last"])


def select_tombstones(table: str, chosen: Chosen) -> Lines:
    """A line ``{"id": …, "deleted": true}`` for each deleted row, among the changes of ``chosen``."""
    rows = f"tombstone t WHERE t.kind = '{table}' AND {CHANGED}"
    return json_lines(rows, chosen, """concat('{"id":', t.id, ',"deleted":true}')""", b"\n")


async def delete_old_tombstones(db: Database, days: int) -> int:
    """Deletes the next tombstones that are older than so many days; 0 when there are none."""
    row = await one(
        db,
        "SELECT prune_tombstones(clock() - make_interval(days => %(days)s), %(maximum)s) AS n",
        {"days": days, "maximum": PRUNED},
    )
    return int(row["n"])


_WINDOW = 25_000  # rows that one statement looks through
_FIRST_WINDOW = 500  # rows that are taken apart before anything is known
_FEW_KEYS = 50  # so many known ones are faster looked for in a row than all of its own listed
_END = 2**63 - 1

Forms = Mapping[str, frozenset[str]]
"""Keys of ``info`` with the forms of their values (json_form in `core/62_tables.sql`), in the order in which rows first have them."""


async def list_more_info_keys(
    tx: Database, rows: str, chosen: Chosen, known: Forms, after: int, *, typed: bool
) -> tuple[Forms, int | None]:
    """What the next of ``rows`` (``exports.stored_rows``) have that is not known, and the last row; None at the end.

    ``typed``: with forms. A known key without forms may have values of any form.
    """
    if not known or len(known) > _FEW_KEYS:
        window = chosen.values(after, _WINDOW if known else _FIRST_WINDOW)
        return await _taken_apart(tx, rows, "true", {**window, "until": _END}, typed=typed)
    new = _is_new(known)
    values = {**chosen.values(after, _WINDOW), "known": list(known)}
    row = await one(
        tx,
        "SELECT max(r.id) AS last, min(r.id) FILTER (WHERE r.new) AS first"
        f" FROM (SELECT t.id, {new} AS new FROM {rows} ORDER BY {ORDER} LIMIT %(maximum)s) r",
        values,
    )
    if row["first"] is None:
        return {}, row["last"]
    window = {**values, "after": row["first"] - 1, "until": row["last"]}
    forms, _ = await _taken_apart(tx, rows, new, window, typed=typed)
    return forms, row["last"]


async def _taken_apart(
    tx: Database, rows: str, new: str, window: Mapping[str, object], *, typed: bool
) -> tuple[Forms, int | None]:
    """The keys of those rows of a window for which ``new`` holds, and the last of these rows."""
    keys, forms = ("jsonb_object_keys(r.info) k(key)", "'{}'::text[]")
    if typed:
        keys, forms = ("jsonb_each(r.info) k(key, value)", "array_agg(DISTINCT json_form(k.value))")
    row = await one(
        tx,
        "WITH r AS MATERIALIZED (SELECT t.id, CASE WHEN jsonb_typeof(t.info) = 'object' THEN t.info END AS info"
        f" FROM {rows} AND t.id <= %(until)s AND {new} ORDER BY {ORDER} LIMIT %(maximum)s),"
        f" k AS (SELECT k.key, min(r.id) AS first, {forms} AS forms FROM r CROSS JOIN LATERAL {keys} GROUP BY k.key)"
        # Within a row, the order of jsonb.
        " SELECT (SELECT max(id) FROM r) AS last, (SELECT jsonb_agg(jsonb_build_array(key, forms)"
        ' ORDER BY first, octet_length(key), key COLLATE "C") FROM k) AS keys',
        window,
    )
    return {key: frozenset(forms) for key, forms in row["keys"] or []}, row["last"]


def _is_new(known: Forms) -> str:
    """A condition: the row t has a key that is none of ``%(known)s``, or a known one with a value of another form."""
    others = "(CASE WHEN jsonb_typeof(t.info) = 'object' THEN t.info - %(known)s::text[] <> '{}' ELSE false END)"
    forms = (
        f"json_form(t.info->{literal(key)}) <> ALL ('{{{','.join(sorted(each))}}}'::text[])"
        for key, each in known.items()
        if each
    )
    return f"({' OR '.join([others, *forms])})"
