"""Rows as JSON that PostgreSQL makes: the view of a kind, compiled to SQL from the same declaration."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.kinds.kind import LINK, Field, Kind
from crowdd.kinds.roles import Role
from crowdd.kinds.types import Timestamp


def json_of(kind: Kind, roles: frozenset[Role], **columns: str) -> str:
    """An expression: the row t as ``Kind.view`` shows it to these roles, as json; ``%(base_url)s`` is a text.

    ``%(mask)s`` is the key of masked attributes, where the kind has any.

    ``columns`` names those of t that hold an attribute under another name. Only for kinds whose attributes are shown
    whole: none encrypted, no public part of info.
    """
    if kind.public_info is not None or any(field.encrypted for field in kind.fields):
        raise ValueError(f"{kind.name} has attributes that PostgreSQL cannot show.")
    pairs = [f"'{name}', {value}" for name, value in (*_attributes(kind, roles, columns), *_links(kind))]
    return f"json_build_object({', '.join(pairs)})"


def column_of(kind: Kind, field: Field, roles: frozenset[Role]) -> str | None:
    """An expression: an attribute of the row t as these roles may see it; None when they may not see it at all."""
    if field.read & roles:
        return f't."{field.name}"'
    if field.masked:
        text = f"t.project_id || ':' || t.\"{field.name}\""
        return f"left(encode(sha256(%(mask)s::bytea || convert_to({text}, 'UTF8')), 'hex'), 32)"
    return "NULL" if field.name in kind.reduced else None


def _attributes(kind: Kind, roles: frozenset[Role], columns: dict[str, str]) -> Iterator[tuple[str, str]]:
    for field in kind.fields:
        if field.read & roles:
            yield field.name, _outward(field, columns.get(field.name, field.name))
        elif (shown := column_of(kind, field, roles)) is not None:
            yield field.name, shown


def _outward(field: Field, column: str) -> str:
    if isinstance(field.type, Timestamp):
        return f"""to_char(t."{column}" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')"""
    return f't."{column}"'


def _links(kind: Kind) -> Iterator[tuple[str, str]]:
    yield "link", _link("self", kind.name, "id")
    if kind.parents:
        parents = (_link("parent", name, column) for name, column in kind.parents.items())
        yield "links", f"json_build_array({', '.join(parents)})"


def _link(rel: str, title: str, column: str) -> str:
    texts = LINK.format(rel=rel, title=title, base_url="\0", row_id="\0").replace("'", "''").split("\0")
    before, between, after = (f"'{text}'" for text in texts)
    return f'{before} || %(base_url)s || {between} || t."{column}" || {after}'
