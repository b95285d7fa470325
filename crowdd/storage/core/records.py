"""Rows of any kind: read, inserted, changed, deleted. The SQL is made from the kind's declaration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from crowdd.kinds.kind import Field, Kind
from crowdd.kinds.roles import OWNERS, Role
from crowdd.kinds.types import Json
from crowdd.requester import Requester
from crowdd.storage.core import hidden_columns, list_size, roles
from crowdd.storage.database import Database, Prepared, Row, as_json, one, one_or_none

# What depends on the requester and is not a right. answered_in saves the walk over open tasks for all but the last of them; tasks all
# of whose places are leased are not open, and found by their leases.
CONTRIB_BUTTON = """CASE
    WHEN t.overall_progress >= 100 THEN 'completed'
    WHEN NOT t.published AND (t.n_tasks = 0 OR coalesce(nullif(t.info->>'task_presenter', ''), t.info->>'questions') IS NULL)
      THEN 'draft'
    WHEN NOT t.published THEN 'publish'
    WHEN NOT t.allow_anonymous_contributors AND %(actor)s ~ '^[ci]:' THEN 'cannot_contribute'
    WHEN t.n_unfinished > answered_in(t.id, %(actor)s) OR EXISTS (
        SELECT FROM (SELECT actors_of(t.id, %(actor)s) AS actors OFFSET 0) a, task_ledger l WHERE l.project_id = t.id AND l.open
           AND NOT EXISTS (SELECT FROM task_run r WHERE r.project_id = t.id AND r.task_id = l.task_id AND r.actor = ANY (a.actors))
    ) OR EXISTS (
        SELECT FROM (SELECT actors_of(t.id, %(actor)s) AS actors OFFSET 0) a,
               lease h JOIN task_ledger l ON l.project_id = h.project_id AND l.task_id = h.task_id AND NOT l.done AND NOT l.retired
         WHERE h.project_id = t.id
           AND NOT EXISTS (SELECT FROM task_run r WHERE r.project_id = t.id AND r.task_id = h.task_id AND r.actor = ANY (a.actors)))
    THEN 'can_contribute' ELSE 'cannot_contribute' END"""
# What an open task has. Volunteers see it of all tasks of a project with gold tasks: these are never complete.
_OPEN = {"state": "'ongoing'", "closed": "NULL"}
_COMPUTED = {("project", "contrib_button"): CONTRIB_BUTTON, ("project", "last_activity"): "NULL::text"}


async def get(db: Database, kind: Kind, row_id: int, who: Requester) -> Row | None:
    """One row with the requester's ``roles`` towards it, which may be none; None when there is no such row."""
    rows = await db.fetch(_by_id(kind), {**who.role_values(), "actor": who.actor, "id": row_id})
    return named(rows)[0] if rows else None


@lru_cache(maxsize=100)
def _by_id(kind: Kind) -> Prepared:
    text = f"SELECT {columns(kind)} FROM {roles.source(kind)} WHERE t.id = %(id)s"
    return Prepared(text, **roles.TYPES, id="bigint")


async def rows(db: Database, kind: Kind, ids: Sequence[int], who: Requester) -> list[Row]:
    """Several rows by their ids, in no order, each as ``get`` gives it."""
    values = {**who.role_values(), "actor": who.actor, "ids": list(ids)}
    sql = f"SELECT {columns(kind)} FROM {roles.source(kind)} WHERE t.id = ANY (%(ids)s::bigint[])"
    return named(await db.fetch(sql, values))


async def related(
    db: Database, kind: Kind, column: str, keys: Sequence[int], maximum: int, who: Requester, max_bytes: int
) -> list[Row]:
    """Rows whose ``column`` is one of the keys and that the requester may see, at most ``maximum`` for each key.

    They come in the order of the keys and end before they exceed ``max_bytes``; ``n_rows`` is how many there are.
    Of results only the last version. A look-up by index for each key, so that the cost is that of the rows found.
    """
    values = {**who.role_values(), "actor": who.actor, "keys": list(keys), "maximum": maximum, "max_bytes": max_bytes}
    where = [f"t.{column} = k.key", roles.any_of(kind, kind.rights.see)]
    if column == "task_id":  # the indexes of what hangs on a task begin with its project
        where.append("t.project_id = (SELECT x.project_id FROM task x WHERE x.id = k.key)")
    if "last_version" in kind.by_name:
        where.append("t.last_version")
    sql = (
        "SELECT r.* FROM unnest(%(keys)s::bigint[]) WITH ORDINALITY AS k(key, nth) CROSS JOIN LATERAL ("
        f"SELECT {columns(kind)} FROM {roles.source(kind)} WHERE {' AND '.join(where)} ORDER BY t.id LIMIT %(maximum)s) r"
        " ORDER BY k.nth, r.id"
    )
    return named(await db.fetch(list_size.within(kind, sql), values))


async def project_of(db: Database, kind: Kind, row_id: int) -> int | None:
    """The project of a row, without a check of rights."""
    row = await one_or_none(db, f"SELECT project_id FROM {kind.table} WHERE id = %(id)s", {"id": row_id})
    return row["project_id"] if row else None


async def lock(db: Database, kind: Kind, row_id: int) -> None:
    """Holds a row of the kind's own table until the transaction ends."""
    await db.fetch(f"SELECT id FROM {kind.table} WHERE id = %(id)s FOR UPDATE", {"id": row_id})


async def insert(db: Database, kind: Kind, values: Mapping[str, object]) -> int:
    """The id of a new row in the kind's own table; its times are now."""
    times = [name for name in ("created", "updated") if name in kind.by_name]
    names = ", ".join([*(f'"{name}"' for name in values), *times])
    marks = ", ".join([*(f"%({name})s" for name in values), *("clock()" for _ in times)])
    row = await one(db, f"INSERT INTO {kind.table} ({names}) VALUES ({marks}) RETURNING id", stored(kind, values))
    return int(row["id"])


async def update(db: Database, kind: Kind, row_id: int, changes: Mapping[str, object]) -> None:
    """Writes changed attributes of a row in the kind's own table."""
    if changes:
        sets = ", ".join(
            [f'"{name}" = %({name})s' for name in changes] + ["updated = clock()"] * ("updated" in kind.by_name)
        )
        await db.execute(f"UPDATE {kind.table} SET {sets} WHERE id = %(id)s", {**stored(kind, changes), "id": row_id})


async def delete(db: Database, kind: Kind, row_id: int) -> bool:
    """Deletes a row of the kind's own table; False when there was none."""
    return await db.execute(f"DELETE FROM {kind.table} WHERE id = %(id)s", {"id": row_id}) > 0


async def roles_to_project(db: Database, project_id: int, who: Requester) -> frozenset[Role] | None:
    """What the requester is to a project; None when there is none. For children that are to be created."""
    sql = f"SELECT {roles.to_project()} FROM project p WHERE p.id = %(id)s"
    row = await one_or_none(db, sql, {**who.role_values(), "id": project_id})
    return frozenset(Role(name) for name in row["roles"]) if row else None


def stored(kind: Kind, values: Mapping[str, object]) -> dict[str, object]:
    """The values as psycopg2 takes them: JSON attributes wrapped, so that a text or null stays JSON."""
    wrapped = {}
    for name, value in values.items():
        field = kind.by_name.get(name)
        wrapped[name] = as_json(value) if field and isinstance(field.type, Json) else value
    return wrapped


def has_project(kind: Kind) -> bool:
    """Whether a row of this kind is a project or belongs to one."""
    return roles.has_project(kind)


def columns(kind: Kind) -> str:
    """The select list of a kind: a column for every attribute, and the requester's roles."""
    items = []
    for field in kind.fields:
        shown = f't."{field.name}_encrypted"' if field.encrypted else value_of(kind, field)
        plain = f't."{field.name}"'
        items.append(shown if field.encrypted or shown == plain else f'{shown} AS "{field.name}"')
    return ", ".join([*items, roles.columns(kind)])


def value_of(kind: Kind, field: Field) -> str:
    """An expression: an attribute of a row t, of which no more than the requester may read leaves the database."""
    computed = _COMPUTED.get((kind.name, field.name))
    if computed is not None:
        return computed
    if field.name == "info" and kind.name == "task":
        return hidden_columns.info()
    if kind.name == "task" and field.name in _OPEN:
        return f"(CASE WHEN NOT p.has_gold OR {roles.any_of(kind, OWNERS)} THEN t.{field.name} ELSE {_OPEN[field.name]} END)"
    if kind.name == "taskrun" and field.name == "calibration":
        return f"(CASE WHEN t.gold AND {roles.any_of(kind, OWNERS)} THEN 1 ELSE t.calibration END)"
    if field.name == "info" and kind.name == "user":  # lists of people are public
        return f"(CASE WHEN {roles.any_of(kind, {Role.SELF, Role.ADMIN})} THEN t.info END)"
    return f't."{field.name}"'


def named(rows: list[Row]) -> list[Row]:
    """The rows with their roles as a set."""
    return [{**row, "roles": frozenset(Role(name) for name in row["roles"])} for row in rows]
