"""SQL of rows of any kind: read, insert, change and delete them, page through them, and sweep old ones.

The SQL is made from the kind's declaration. Hidden columns of tasks depend on who reads (`core/58_hidden_columns.sql`). Each page of
a long list costs the same, since it begins at a row of an index. A list answer holds a limited number of bytes: its
rows are cut in SQL. Old rows are deleted in transactions short enough to delay nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Generic, TypeVar

import attrs

from crowdd.core.records import role_statements
from crowdd.database.access import Database, Prepared, Row, Values, as_json, one, one_or_none
from crowdd.kernel.requester import Requester
from crowdd.kinds.kind import Field, Kind, Relation
from crowdd.kinds.roles import OWNERS, Role
from crowdd.kinds.task import TASK
from crowdd.kinds.types import Integers, Json, Text

R = TypeVar("R")


def task_relation(*, owns: bool) -> str:
    """The relation with the tasks as owners may read them, or as others may."""
    return "task" if owns else "public_task"


def kind_relation(kind: Kind, *, owns: bool) -> str:
    """The relation with the rows of a kind as owners may read them, or as others may."""
    return kind.source if owns or kind is not TASK else "public_task_record"


def task_info() -> str:
    """An expression: ``info`` of a task t of a project p as the requester may read it."""
    whole = f"p.hidden_columns IS NULL OR {role_statements.any_of(TASK, OWNERS)}"
    return f"(CASE WHEN {whole} THEN t.info ELSE without_keys(t.info, p.hidden_columns) END)"


MAX_LIST_BYTES = 5_000_000
_SMALL_TEXT = 10_000  # characters; shorter texts are part of what every row is taken to have
_ROW_BYTES = 1000


def limit_bytes(kind: Kind, rows: str) -> str:
    """The rows of a SELECT until together they exceed ``%(max_bytes)s``, always the first one.

    ``bytes`` is the size of a row as JSON, or a little more, ``n_rows`` how many rows there were. The order stays.
    ``stored_bytes`` is known without unpacking a value: it keeps PostgreSQL from unpacking thousands of rows to find out that they are too large.
    """
    stored = " + ".join([str(_ROW_BYTES), *(f'coalesce(pg_column_size(s."{name}"), 0)' for name in _large(kind))])
    size = " + ".join([str(_ROW_BYTES), *(f'coalesce(octet_length(s."{name}"::text), 0)' for name in _large(kind))])
    walk = "OVER (ROWS UNBOUNDED PRECEDING)"
    return (
        f"SELECT * FROM (SELECT s.*, sum(bytes) {walk} AS bytes_so_far FROM (SELECT s.*, {size} AS bytes FROM ("
        f"SELECT * FROM (SELECT s.*, row_number() OVER () AS place, count(*) OVER () AS n_rows,"
        f" sum({stored}) {walk} AS stored_bytes FROM ({rows}) s) s WHERE stored_bytes <= %(max_bytes)s OR place = 1"
        f") s OFFSET 0) s) s WHERE bytes_so_far <= %(max_bytes)s OR place = 1"
    )


def _large(kind: Kind) -> list[str]:
    """The attributes of a kind that may be large."""
    return [
        field.name
        for field in kind.fields
        if isinstance(field.type, Json | Integers)
        or (isinstance(field.type, Text) and field.type.maximum > _SMALL_TEXT)
    ]


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


async def get_row(db: Database, kind: Kind, row_id: int, who: Requester) -> Row | None:
    """One row with the requester's ``roles`` towards it, which may be none; None when there is no such row."""
    rows = await db.fetch(_by_id(kind), {**who.role_values(), "actor": who.actor, "id": row_id})
    return parse_roles(rows)[0] if rows else None


@lru_cache(maxsize=100)
def _by_id(kind: Kind) -> Prepared:
    text = f"SELECT {list_columns(kind)} FROM {role_statements.source(kind)} WHERE t.id = %(id)s"
    return Prepared(text, **role_statements.TYPES, id="bigint")


async def list_rows(db: Database, kind: Kind, ids: Sequence[int], who: Requester) -> list[Row]:
    """Several rows by their ids, in no order, each as ``get_row`` gives it."""
    values = {**who.role_values(), "actor": who.actor, "ids": list(ids)}
    sql = f"SELECT {list_columns(kind)} FROM {role_statements.source(kind)} WHERE t.id = ANY (%(ids)s::bigint[])"
    return parse_roles(await db.fetch(sql, values))


async def list_related_rows(
    db: Database, kind: Kind, relation: Relation, keys: Sequence[int], who: Requester, max_bytes: int
) -> list[Row]:
    """Rows that the keys are related to and that the requester may see, at most ``maximum`` for each key.

    They come in the order of the keys and end before they exceed ``max_bytes``; ``n_rows`` is how many there are.
    Of results only the last version. A look-up by index for each key, so that the cost is that of the rows found.
    """
    values = {
        **who.role_values(),
        "actor": who.actor,
        "keys": list(keys),
        "maximum": relation.maximum,
        "max_bytes": max_bytes,
    }
    where = [f"t.{relation.theirs} = k.key", role_statements.any_of(kind, kind.rights.see)]
    if relation.theirs == "task_id":  # the indexes of what hangs on a task begin with its project
        where.append("t.project_id = (SELECT x.project_id FROM task x WHERE x.id = k.key)")
    if "last_version" in kind.by_name:
        where.append("t.last_version")
    sql = (
        "SELECT r.* FROM unnest(%(keys)s::bigint[]) WITH ORDINALITY AS k(key, nth) CROSS JOIN LATERAL ("
        f"SELECT {list_columns(kind)} FROM {role_statements.source(kind)} WHERE {' AND '.join(where)} ORDER BY t.id LIMIT %(maximum)s) r"
        " ORDER BY k.nth, r.id"
    )
    return parse_roles(await db.fetch(limit_bytes(kind, sql), values))


async def find_project_id(db: Database, kind: Kind, row_id: int) -> int | None:
    """The project of a row, without a check of rights."""
    row = await one_or_none(db, f"SELECT project_id FROM {kind.table} WHERE id = %(id)s", {"id": row_id})
    return row["project_id"] if row else None


async def lock_row(db: Database, kind: Kind, row_id: int) -> None:
    """Holds a row of the kind's own table until the transaction ends."""
    await db.fetch(f"SELECT id FROM {kind.table} WHERE id = %(id)s FOR UPDATE", {"id": row_id})


async def insert_row(db: Database, kind: Kind, values: Mapping[str, object]) -> int:
    """The id of a new row in the kind's own table; its times are now."""
    times = [name for name in ("created", "updated") if name in kind.by_name]
    names = ", ".join([*(f'"{name}"' for name in values), *times])
    marks = ", ".join([*(f"%({name})s" for name in values), *("clock()" for _ in times)])
    row = await one(db, f"INSERT INTO {kind.table} ({names}) VALUES ({marks}) RETURNING id", stored(kind, values))
    return int(row["id"])


async def update_row(db: Database, kind: Kind, row_id: int, changes: Mapping[str, object]) -> None:
    """Writes changed attributes of a row in the kind's own table."""
    if changes:
        sets = ", ".join(
            [f'"{name}" = %({name})s' for name in changes] + ["updated = clock()"] * ("updated" in kind.by_name)
        )
        await db.execute(f"UPDATE {kind.table} SET {sets} WHERE id = %(id)s", {**stored(kind, changes), "id": row_id})


async def delete_row(db: Database, kind: Kind, row_id: int) -> bool:
    """Deletes a row of the kind's own table; False when there was none."""
    return await db.execute(f"DELETE FROM {kind.table} WHERE id = %(id)s", {"id": row_id}) > 0


async def roles_to_project(db: Database, project_id: int, who: Requester) -> frozenset[Role] | None:
    """What the requester is to a project; None when there is none. For children that are to be created."""
    sql = f"SELECT {role_statements.to_project()} FROM project p WHERE p.id = %(id)s"
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
    return role_statements.has_project(kind)


def list_columns(kind: Kind) -> str:
    """The select list of a kind: a column for every attribute, and the requester's roles."""
    items = []
    for field in kind.fields:
        shown = f't."{field.name}_encrypted"' if field.encrypted else value_of(kind, field)
        plain = f't."{field.name}"'
        items.append(shown if field.encrypted or shown == plain else f'{shown} AS "{field.name}"')
    return ", ".join([*items, role_statements.columns(kind)])


def value_of(kind: Kind, field: Field) -> str:
    """An expression: an attribute of a row t, of which no more than the requester may read leaves the database."""
    computed = _COMPUTED.get((kind.name, field.name))
    if computed is not None:
        return computed
    if field.name == "info" and kind.name == "task":
        return task_info()
    if kind.name == "task" and field.name in _OPEN:
        return f"(CASE WHEN NOT p.has_gold OR {role_statements.any_of(kind, OWNERS)} THEN t.{field.name} ELSE {_OPEN[field.name]} END)"
    if kind.name == "taskrun" and field.name == "calibration":
        return f"(CASE WHEN t.gold AND {role_statements.any_of(kind, OWNERS)} THEN 1 ELSE t.calibration END)"
    if field.name == "info" and kind.name == "user":  # lists of people are public
        return f"(CASE WHEN {role_statements.any_of(kind, {Role.SELF, Role.ADMIN})} THEN t.info END)"
    return f't."{field.name}"'


def parse_roles(rows: list[Row]) -> list[Row]:
    """The rows with their roles as a set."""
    return [{**row, "roles": frozenset(Role(name) for name in row["roles"])} for row in rows]


CHUNK = 5000


async def delete_in_batches(db: Database, table: str, condition: str, values: Values = None) -> int:
    """Deletes the rows of a table for which the condition holds, and says how many there were."""
    subquery = f"SELECT ctid FROM {table} WHERE {condition} LIMIT {CHUNK}"
    # The condition stands twice: not every PostgreSQL looks again at a row that was found by its place and then changed.
    sql = f"DELETE FROM {table} WHERE ctid = ANY (ARRAY({subquery})) AND {condition}"
    gone = 0
    while True:
        now = await db.execute(sql, values)
        gone += now
        if now < CHUNK:
            return gone


@attrs.frozen
class Keyset:
    """Which page of a list: its first one, or the one beside a row.

    ``before`` and ``after`` are ids, or codes where rows have no number. They mean the order of the index, whichever way
    the list is sorted: rows ``before`` another one have a smaller key. ``size`` is the number of rows on a page.
    """

    size: int = 50
    order: str = "id"
    descending: bool = True
    before: int | str | None = None
    after: int | str | None = None

    @property
    def row(self) -> int | str | None:
        """The row beside which the page lies; None for the first page."""
        return self.after if self.before is None else self.before

    @property
    def reads_down(self) -> bool:
        """Whether the rows are read in descending order, so that those next to the row that is named come first."""
        return self.before is not None or (self.after is None and self.descending)

    def values(self) -> dict[str, object]:
        """What the SQL of ``beside`` and ``limited`` stands for."""
        return {"place": self.row, "place_limit": self.size + 1}

    def beside(self, table: str, id_: str, keys: Sequence[str]) -> str:
        """The condition on rows beside the one that is named. ``keys`` are the columns of the index; the id is one of them, or the last one."""
        if self.row is None:
            return "true"
        sign = "<" if self.reads_down else ">"
        if list(keys) == [id_]:
            return f"{id_} {sign} %(place)s"
        columns = ", ".join(keys)
        return f"({columns}) {sign} (SELECT {columns} FROM {table} WHERE {id_} = %(place)s)"

    def limited(self, keys: Sequence[str]) -> str:
        """The order in which rows are read, and how many: one more than are shown."""
        way = "DESC" if self.reads_down else "ASC"
        return f"ORDER BY {', '.join(f'{key} {way}' for key in keys)} LIMIT %(place_limit)s"

    def part(self, rows: Sequence[R]) -> KeysetPage[R]:
        """The page that these rows are, which were read in the order of ``limited``."""
        more, shown = len(rows) > self.size, list(rows[: self.size])
        if self.reads_down == self.descending:
            return KeysetPage(shown, previous=self.row is not None, next=more)
        return KeysetPage(shown[::-1], previous=more, next=self.row is not None)


@attrs.frozen
class KeysetPage(Generic[R]):
    """The rows of a page in the order of the list, and whether there are others before and after them."""

    rows: list[R]
    previous: bool
    next: bool
