"""Lists of any kind: which rows, in which order, from where on. The SQL is made from the kind's declaration.

Cost: a list by ``id`` of named or own projects, or of all, reads as many index entries as it shows rows (``last_id``) or
passes over (``offset``), whatever the size of the tables. Other orders and other filters than ``id`` and ``project_id``
read the rows of the projects concerned until the page is full; the statement's time-out bounds them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import attrs

from crowdd.core.records import role_statements, statements
from crowdd.core.records.projection_statements import in_json, json_for_requester
from crowdd.core.records.statements import list_columns, parse_roles, value_of
from crowdd.database.access import Database, Prepared, Row, as_json, one
from crowdd.kernel.requester import Requester
from crowdd.kinds.kind import Field, Kind
from crowdd.kinds.project import PROJECT
from crowdd.kinds.roles import EVERYONE, Role
from crowdd.kinds.task import TASK
from crowdd.kinds.types import Integer, Json, Timestamp


@attrs.frozen
class Filter:
    """One condition: an attribute and what it is compared with."""

    field: Field
    value: Any
    key: str = ""  # first-level key of a JSON attribute
    fulltext: bool = False  # the value is a tsquery, compared with the words of the key's text


@attrs.frozen
class Query:
    """What a list asks for. ``own``: only rows of projects that the requester owns or co-owns (context rule)."""

    kind: Kind
    filters: tuple[Filter, ...] = ()
    order: str = "id"
    descending: bool = False
    limit: int = 20
    offset: int = 0
    last_id: int | None = None
    own: bool = False
    favourite_of: int | None = None  # tasks that this person marked
    without_actor: str = ""  # tasks that this volunteer has not answered, also as another actor


def equal(kind: Kind, **values: object) -> tuple[Filter, ...]:
    """The filters of a list of rows whose attributes have these values."""
    fields = {kind.field(name): value for name, value in values.items()}
    return tuple(
        Filter(field, [value] if isinstance(field.type, Integer) else value) for field, value in fields.items()
    )


# Attributes that are looked up elsewhere first, once for the whole list.
_LOOKED_UP = {
    ("taskrun", "volunteer"): "(t.project_id, t.actor) IN"
    " (SELECT w.project_id, w.actor FROM volunteer_word w WHERE w.word = {value})"
}
STEP_BYTES = 1_000_000  # of rows that one statement brings: reading them takes the reactor some 5 ms
LARGE_KINDS = frozenset({"task", "taskrun", "result", "helpingmaterial"})
MAX_CHEAP_OFFSET = 10_000


def is_dear(query: Query) -> bool:
    """Whether a list may read a large part of a table: it has no index, or passes over many rows."""
    named = {condition.field.name for condition in query.filters}
    if "id" in named:
        return False
    if query.offset > MAX_CHEAP_OFFSET or any(isinstance(each.field.type, Json) for each in query.filters):
        return True
    if query.kind.name not in LARGE_KINDS:
        return False
    return query.order != "id" or not (_has_projects(query) or named <= {"last_version"})


async def select(db: Database, query: Query, who: Requester) -> list[Row]:
    """The rows of a list that the requester may see, each with its ``roles``; at most MAX_LIST_BYTES of them.

    ``bytes`` is the size of each row. Large rows come some at a time: between two statements the reactor serves others.
    """
    values = _page(query, who)
    where = " AND ".join(_wanted(query, who, values))
    wanted = (_by_project if _has_projects(query) else _plain)(
        query, where, f"{list_columns(query.kind)}{_found(query)}", "*"
    )
    limited = statements.limit_bytes(query.kind, wanted)
    # What a search adds to its rows belongs to them only there.
    step_bytes = statements.MAX_LIST_BYTES if _found(query) else STEP_BYTES
    rows = parse_roles(await db.fetch(limited, {**values, "max_bytes": step_bytes}))
    if _found(query) or not rows or len(rows) == rows[0]["n_rows"]:
        return rows
    all_bytes = {**values, "max_bytes": statements.MAX_LIST_BYTES}
    read = {row["id"] for row in rows}
    sizes = {row["id"]: row["bytes"] for row in await db.fetch(f"SELECT s.id, s.bytes FROM ({limited}) s", all_bytes)}
    return rows + await _read(db, query.kind, who, {key: size for key, size in sizes.items() if key not in read})


async def _read(db: Database, kind: Kind, who: Requester, sizes: Mapping[int, int]) -> list[Row]:
    """The rows with these ids, of these sizes, in this order, without those that are gone or hidden by now."""
    rows_by_id: dict[int, Row] = {}
    for step in _steps(sizes):
        for row in await statements.list_rows(db, kind, step, who):
            if Role.ANYBODY in kind.rights.see or row["roles"] & kind.rights.see:
                rows_by_id[row["id"]] = {**row, "bytes": sizes[row["id"]]}
    return [rows_by_id[row_id] for row_id in sizes if row_id in rows_by_id]


def _steps(sizes: Mapping[int, int]) -> Iterator[list[int]]:
    """The ids in groups whose rows have about STEP_BYTES together."""
    step, size = list[int](), 0
    for row_id in sizes:
        step.append(row_id)
        size += sizes[row_id]
        if size >= STEP_BYTES:
            yield step
            step, size = [], 0
    if step:
        yield step


@attrs.frozen
class ListText:
    """A list as the text of a JSON array; None where Python has to show its rows: one of them, or all, if ``large``."""

    text: str | None
    large: bool = False


async def select_text(db: Database, query: Query, who: Requester, base_url: str, mask: bytes) -> ListText:
    """The same list as a text, made by PostgreSQL. ``base_url`` and ``mask`` as ``projection_statements`` takes them."""
    if _found(query):
        return ListText(None)
    values = {**_page(query, who), "base_url": in_json(base_url), "mask": mask}
    sql: str | Prepared
    if _is_frequent(query, who):
        sql = _frequent(
            query.kind, tuple(each.field.name for each in query.filters), query.own, query.last_id is not None
        )
        values |= {f"f{number}": condition.value for number, condition in enumerate(query.filters)}
        values |= {} if query.last_id is None else {"last_id": query.last_id}
    else:
        sql = _text_of(query, who, values)
    row = await one(db, sql, values)
    return ListText(f"[{row['lines'] or ''}]" if row["whole"] and not row["large"] else None, row["large"])


def _text_of(query: Query, who: Requester, values: dict[str, object]) -> str:
    """The statement of ``select_text``; what the conditions compare with goes into ``values``."""
    where = " AND ".join(_wanted(query, who, values))
    line = f"{json_for_requester(query.kind)} AS line, t.id"
    rows = (_by_project if _has_projects(query) else _plain)(query, where, line, "line")
    return (
        "SELECT s.whole, s.large, CASE WHEN s.whole AND NOT s.large THEN s.lines END AS lines FROM ("
        "SELECT count(*) = count(r.line) AS whole, coalesce(sum(octet_length(r.line)), 0) + count(*) >="
        f" {statements.MAX_LIST_BYTES} AS large, string_agg(r.line, ',') AS lines FROM ({rows}) r) s"
    )


def _page(query: Query, who: Requester) -> dict[str, object]:
    return {**who.role_values(), "actor": who.actor, "limit": query.limit, "offset": query.offset}


# Attributes by which most lists are filtered. Only lists of these few sorts are prepared: each connection keeps a plan of each.
_FREQUENT = (frozenset[str](), {"project_id"}, {"task_id"}, {"project_id", "task_id"})
_TYPES = {
    **role_statements.TYPES,
    "limit": "bigint",
    "offset": "bigint",
    "base_url": "text",
    "mask": "bytea",
}


def _is_frequent(query: Query, who: Requester) -> bool:
    names = {each.field.name for each in query.filters} - {"last_version"}
    plain = not (query.descending or query.without_actor or query.favourite_of) and who.presenter is None
    return plain and query.order == "id" and names in _FREQUENT


def key_of(query: Query, who: Requester) -> Hashable | None:
    """What ``select_text`` depends on beside the rows; None for a list that is not prepared, or that may cost much."""
    if not _is_frequent(query, who) or is_dear(query):
        return None
    filters = tuple((each.field.name, repr(each.value)) for each in query.filters)
    return (filters, query.own, query.last_id, query.limit, query.offset, *requester_key(query.kind, who))


def requester_key(kind: Kind, who: Requester) -> tuple[Hashable, ...]:
    """What a row of the kind depends on of the requester."""
    return kind.name, repr(who.role_values()), who.actor if kind is PROJECT else ""  # ``contrib_button``


@lru_cache(maxsize=200)
def _frequent(kind: Kind, names: tuple[str, ...], own: bool, after: bool) -> Prepared:
    """The statement of a list that is filtered by ids, and by yes and no, in the order of ids."""
    fields = [kind.field(name) for name in names]
    types = {f"f{number}": f"{f.type.sql}{'[]' * isinstance(f.type, Integer)}" for number, f in enumerate(fields)}
    query = Query(kind, tuple(Filter(field, None) for field in fields), own=own, last_id=0 if after else None)
    types |= {"last_id": "bigint"} if after else {}
    return Prepared(_text_of(query, Requester(), {}), **_TYPES, **types)


def _wanted(query: Query, who: Requester, values: dict[str, object]) -> Iterator[str]:
    """The conditions of a list; what they compare with goes into ``values``."""
    yield role_statements.any_of(query.kind, query.kind.rights.see)
    if who.presenter is not None and role_statements.has_project(query.kind):
        values["presenter"] = who.presenter
        yield "p.id = %(presenter)s"
    for number, condition in enumerate(query.filters):
        yield _condition(query.kind, condition, f"f{number}", values)
    if query.favourite_of is not None:
        values["marker"] = query.favourite_of
        yield "t.id IN (SELECT v.task_id FROM favourite v WHERE v.user_id = %(marker)s)"
    if query.without_actor:
        values["volunteer"] = query.without_actor
        yield (
            "NOT EXISTS (SELECT FROM task_run r"
            " WHERE r.project_id = t.project_id AND r.task_id = t.id AND r.actor = %(volunteer)s)"
        )
        yield (
            "NOT EXISTS (SELECT FROM same_person s JOIN task_run r ON r.actor = s.other"
            " WHERE s.actor = %(volunteer)s AND s.project_id IN (0, t.project_id)"
            " AND r.project_id = t.project_id AND r.task_id = t.id)"
        )
    if query.last_id is not None:
        values["last_id"] = query.last_id
        yield _after(query)
    if query.own:
        yield role_statements.any_of(query.kind, {Role.OWNER})


def _plain(query: Query, where: str, items: str, _shown_items: str) -> str:
    return (
        f"SELECT {items} FROM {role_statements.source(query.kind)} WHERE {where}"
        f" ORDER BY {'rank DESC, ' * bool(_found(query))}{_order(query)} LIMIT %(limit)s OFFSET %(offset)s"
    )


def _has_projects(query: Query) -> bool:
    """Whether the list is of few projects: named ones, or those that the requester owns."""
    if "project_id" not in query.kind.by_name:
        return False
    return query.own or any(condition.field.name == "project_id" for condition in query.filters)


def _by_project(query: Query, where: str, items: str, shown_items: str) -> str:
    """A look-up by index in each project, then the best of all: no other project's rows are walked over."""
    named = [n for n, condition in enumerate(query.filters) if condition.field.name == "project_id"]
    mine = [f"p.id = ANY (%(f{n})s::bigint[])" for n in named]
    mine += [role_statements.to_project_owner()] if query.own else []
    rank = "rank DESC, " * bool(_found(query))
    direction = "DESC" if query.descending else "ASC"
    return (
        f"SELECT r.{shown_items} FROM (SELECT p.id FROM project p WHERE {' AND '.join(mine)}) q CROSS JOIN LATERAL ("
        f"SELECT {items}, {_shown(query)} AS order_key FROM {role_statements.source(query.kind)}"
        f" WHERE t.project_id = q.id AND {where}"
        f" ORDER BY {rank}{_order(query)} LIMIT %(limit)s::bigint + %(offset)s::bigint) r"
        f" ORDER BY {rank}r.order_key {direction} NULLS LAST, r.id {direction} LIMIT %(limit)s OFFSET %(offset)s"
    )


def _condition(kind: Kind, condition: Filter, mark: str, values: dict[str, object]) -> str:
    sql = _looked_up(kind, condition, mark, values) or _comparison(kind, condition, mark, values)
    readers = kind.readers(condition.field, _keys(condition))
    if readers != EVERYONE:
        # Who may not read a value must not learn it by asking for it.
        sql = f"({sql} AND {role_statements.any_of(kind, readers)})"
    return sql


def _looked_up(kind: Kind, condition: Filter, mark: str, values: dict[str, object]) -> str:
    template = _LOOKED_UP.get((kind.name, condition.field.name))
    if template is None:
        return ""
    values[mark] = condition.value
    return template.format(value=f"%({mark})s")


def _keys(condition: Filter) -> list[str] | None:
    """The first-level keys of a JSON attribute that a condition looks at; None: all of it."""
    if condition.key:
        return [condition.key]
    return list(condition.value) if isinstance(condition.value, dict) else None


def _comparison(kind: Kind, condition: Filter, mark: str, values: dict[str, object]) -> str:
    column, kind_of, value = _column(kind, condition.field), condition.field.type, condition.value
    if isinstance(kind_of, Timestamp):
        values[f"{mark}a"], values[f"{mark}b"] = value
        return f"({column} >= %({mark}a)s AND {column} < %({mark}b)s)"
    values[mark] = value
    if condition.key:
        values[f"{mark}k"] = condition.key
    if condition.fulltext:
        return f"to_tsvector({column} ->> %({mark}k)s) @@ to_tsquery(%({mark})s)"
    if condition.key:
        return f"{column} ->> %({mark}k)s = %({mark})s"
    if isinstance(kind_of, Json):
        values[mark] = as_json(value)
        return f"{column} @> %({mark})s"
    if isinstance(kind_of, Integer):
        return f"{column} = ANY (%({mark})s::bigint[])"
    return f"{column} = %({mark})s::{kind_of.sql}"


def _column(kind: Kind, field: Field) -> str:
    """What is compared and ordered by: of a task without what is hidden from the requester."""
    return value_of(kind, field) if kind is TASK else f't."{field.name}"'


def _found(query: Query) -> str:
    """Select items of a full-text search: ``headline`` with the words found marked, ``rank`` by cover density."""
    texts = [(n, f) for n, f in enumerate(query.filters) if f.fulltext]
    if not texts:
        return ""
    number, condition = texts[0]
    column, words = _column(query.kind, condition.field), f"to_tsquery(%(f{number})s)"
    text = f"{column} ->> %(f{number}k)s"
    return f", ts_headline({text}, {words}) AS headline, ts_rank_cd(to_tsvector({text}), {words}, 4) AS rank"


def _order(query: Query) -> str:
    direction = "DESC" if query.descending else "ASC"
    if query.order == "id":
        return f"t.id {direction}"
    return f"{_shown(query)} {direction} NULLS LAST, t.id {direction}"


def _shown(query: Query) -> str:
    """The attribute to order by, null where the requester may not read it: an order tells a value as well."""
    field = query.kind.field(query.order)
    readers, column = query.kind.readers(field), _column(query.kind, field)
    return (
        column
        if readers == EVERYONE
        else f"(CASE WHEN {role_statements.any_of(query.kind, readers)} THEN {column} END)"
    )


def _after(query: Query) -> str:
    """Rows behind the one with id last_id in the order asked for, nulls last."""
    sign = "<" if query.descending else ">"
    if query.order == "id":
        also = f" AND t.ledger_id {sign} %(last_id)s" if query.kind is TASK else ""  # see the view task_record
        return f"t.id {sign} %(last_id)s{also}"
    column = _shown(query)
    last = f"(SELECT {column} FROM {role_statements.source(query.kind)} WHERE t.id = %(last_id)s)"
    return (
        f"({column} {sign} {last} OR ({column} IS NOT DISTINCT FROM {last} AND t.id {sign} %(last_id)s)"
        f" OR ({column} IS NULL AND {last} IS NOT NULL))"
    )
