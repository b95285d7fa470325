"""Rows as JSON that PostgreSQL makes: the view of a kind, compiled to SQL from the same declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby

import orjson

from crowdd.core.records import role_statements
from crowdd.core.records.statements import value_of
from crowdd.database.access import Database, Prepared, as_json
from crowdd.kernel.requester import Requester
from crowdd.kinds.kind import LINK, Field, Kind
from crowdd.kinds.roles import WHOLE_INFO, Role
from crowdd.kinds.types import Boolean, Integer, Json, Number, Timestamp

MAX_ROW_BYTES = 20_000  # as stored, of a row that PostgreSQL shows: what its values unpack to is then bounded, too
_TIME = """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')"""
# Attributes that only Python can show to those who may read them.
_IN_PYTHON = frozenset({("project", "last_activity")})
Ask = Mapping[str, object]
_Condition = Callable[[frozenset[Role]], str]
_TRUE, _FALSE = "true", "false"


@lru_cache(maxsize=10)
def in_json(text: str) -> str:
    """A text as it stands within a JSON string: what ``%(base_url)s`` is in the expressions of this module."""
    return orjson.dumps(text).decode()[1:-1]


def json_of(kind: Kind, roles: frozenset[Role], **columns: str) -> str:
    """An expression: the row t as ``Kind.view`` shows it to these roles, as a JSON text; ``%(base_url)s`` as ``in_json`` gives it.

    ``%(mask)s`` is the key of masked attributes, where the kind has any.

    ``columns`` names those of t that hold an attribute under another name. Only for kinds whose attributes are shown
    whole: none encrypted, no public part of info.
    """
    if kind.public_info is not None or any(field.encrypted for field in kind.fields):
        raise ValueError(f"{kind.name} has attributes that PostgreSQL cannot show.")
    return _object(
        kind,
        lambda readers: _TRUE if readers & roles else _FALSE,
        lambda field: f't."{columns.get(field.name, field.name)}"',
    )


@lru_cache(maxsize=100)
def json_for_requester(kind: Kind) -> str:
    """The same for the requester of the statement (``role_statements``), whatever their roles towards the row are.

    Null where Python has to show the row: it has a secret that the requester may read, or it is large.
    """
    secret = [field.read for field in kind.fields if field.encrypted or (kind.name, field.name) in _IN_PYTHON]
    hidden = [role_statements.any_of(kind, frozenset().union(*secret))] if secret else []
    if "info" in kind.by_name:
        hidden.append(f"coalesce(pg_column_size(t.info), 0) > {MAX_ROW_BYTES}")
    shown = _object(kind, lambda readers: role_statements.any_of(kind, readers), lambda field: value_of(kind, field))
    return f"CASE WHEN NOT ({' OR '.join(hidden) or _FALSE}) THEN {shown} END"


def ask(who: Requester, row_id: int) -> Ask:
    """What ``texts_of`` is asked for: a row by its id, for somebody."""
    return {**who.role_values(), "actor": who.actor, "id": row_id}


async def texts_of(db: Database, kind: Kind, asks: Sequence[Ask], base_url: str, mask: bytes) -> list[str | None]:
    """The row of each ask as JSON, as its requester sees it, in their order.

    None where there is no such row, where the requester may not get it, and where Python has to show it.
    """
    values = {"asks": as_json(asks), "base_url": in_json(base_url), "mask": mask}
    return [row["text"] for row in await db.fetch(_texts(kind), values)]


@lru_cache(maxsize=100)
def _texts(kind: Kind) -> Prepared:
    shown = f"CASE WHEN {role_statements.any_of(kind, kind.rights.get)} THEN {json_for_requester(kind)} END"
    row = f"SELECT {shown} FROM {role_statements.source(kind)} WHERE t.id = a.id"
    for name in role_statements.TYPES:
        row = row.replace(f"%({name})s", f'a."{name}"')
    columns = ", ".join(f'"{name}" {type_}' for name, type_ in {**role_statements.TYPES, "id": "bigint"}.items())
    return Prepared(
        f"SELECT ({row}) AS text FROM ROWS FROM (jsonb_to_recordset(%(asks)s) AS ({columns})) WITH ORDINALITY a ORDER BY a.ordinality",
        asks="jsonb",
        base_url="text",
        mask="bytea",
    )


def column_of(kind: Kind, field: Field, roles: frozenset[Role]) -> str | None:
    """An expression: an attribute of the row t as these roles may see it; None when they may not see it at all."""
    return f't."{field.name}"' if field.read & roles else _instead(kind, field)


def _instead(kind: Kind, field: Field) -> str | None:
    """What stands for an attribute that one may not read; None: nothing."""
    if field.masked:
        text = f"t.project_id || ':' || t.\"{field.name}\""
        return f"left(encode(sha256(%(mask)s::bytea || convert_to({text}, 'UTF8')), 'hex'), 32)"
    return "NULL" if field.name in kind.reduced else None


def _object(kind: Kind, may: _Condition, column: Callable[[Field], str]) -> str:
    """A JSON text of the attributes and links of a row. ``may`` gives the condition on which some roles are there."""
    parts = [*_attributes(kind, may, column), *_links(kind)]
    if parts[0].startswith("',"):  # the first attribute is always there
        return f"concat('{{{parts[0][2:]}, {', '.join(parts[1:])}, '}}')"
    return f"concat('{{', substr(concat({', '.join(parts)}), 2), '}}')"


def _attributes(kind: Kind, may: _Condition, column: Callable[[Field], str]) -> Iterator[str]:
    """Arguments of concat, each with a comma before it. Attributes that the same people read share a condition."""
    for readers, group in groupby((f for f in kind.fields if not f.encrypted), lambda field: field.read):
        fields, condition = list(group), may(readers)
        shown = [part for field in fields for part in _pair(field.name, _shown(kind, field, may, column(field)))]
        others = [part for field in fields for part in _pair_instead(kind, field)]
        if condition == _TRUE:
            yield from shown
        elif condition == _FALSE:
            yield from others
        else:
            otherwise = f" ELSE concat({', '.join(others)})" if others else ""
            yield f"CASE WHEN {condition} THEN concat({', '.join(shown)}){otherwise} END"


def _pair(name: str, value: str) -> tuple[str, str]:
    return f"',\"{name}\":'", value


def _pair_instead(kind: Kind, field: Field) -> Iterable[str]:
    value = _instead(kind, field)
    if value is None:
        return ()
    return _pair(field.name, "'null'" if value == "NULL" else f"coalesce(to_json({value})::text, 'null')")


def _shown(kind: Kind, field: Field, may: _Condition, value: str) -> str:
    """An expression: the value as JSON text."""
    match field.type:
        case Timestamp():
            return f"coalesce('\"' || {_TIME.format(value)} || '\"', 'null')"
        case Integer() | Boolean():
            return f"coalesce(({value})::text, 'null')"
        case Number():
            whole = f"CASE WHEN {value} = trunc({value}) AND abs({value}) < 1e15 THEN '.0' ELSE '' END"
            return f"coalesce(to_json({value})::text || {whole}, 'null')"
        case Json() if field.name == "info" and kind.public_info is not None:
            return _public_part(kind, may(WHOLE_INFO), value)
        case Json():
            return f"coalesce(({value})::text, 'null')"
    return f"coalesce(to_json(({value})::{field.type.sql})::text, 'null')"


def _public_part(kind: Kind, whole: str, value: str) -> str:
    keys = ", ".join(f"'{key}'" for key in sorted(kind.public_info or ()))
    public = f"(SELECT jsonb_object_agg(e.key, e.value) FROM jsonb_each({value}) e WHERE e.key IN ({keys}))"
    return f"CASE WHEN {whole} THEN coalesce(({value})::text, 'null') ELSE coalesce({public}::text, '{{}}') END"


def _links(kind: Kind) -> Iterator[str]:
    if not kind.linked:
        return
    yield from _link("link", "self", kind.name, "id", "", "")
    names = list(kind.parents.items())
    for number, (name, column) in enumerate(names):
        begin, end = "[" * (number == 0), "]" * (number == len(names) - 1)
        yield from _link("links" * (number == 0), "parent", name, column, begin, end)


def _link(key: str, rel: str, title: str, column: str, begin: str, end: str) -> Iterator[str]:
    before, between, after = (
        LINK.format(rel=rel, title=title, base_url="\0", row_id="\0").replace("'", "''").split("\0")
    )
    named = f'"{key}":' if key else ""
    yield f"',{named}{begin}\"{before}'"
    yield "%(base_url)s::text"
    yield f"'{between}'"
    yield f't."{column}"'
    yield f"'{after}\"{end}'"
