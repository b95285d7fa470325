"""What statements run on: a pool (each statement on its own) or a transaction."""

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar, cast, is_typeddict

import attrs
import orjson
from psycopg2.extras import Json

Values = Mapping[str, object] | Sequence[object] | None
Row = Mapping[str, Any]
"""A row of any kind, where the code is the same for all kinds. Other rows have a type (``rows.py`` of each package)."""
Bytea = bytes | memoryview
"""A bytea as psycopg2 returns it."""
R = TypeVar("R")
T = TypeVar("T")


@attrs.frozen(init=False, eq=False)
class Prepared:
    """A statement that every connection parses and plans once, for those that are asked all the time.

    ``text`` has ``%(name)s`` for each value, as any statement; ``types`` says what PostgreSQL calls their types.
    """

    text: str
    name: str
    definition: str
    call: str

    def __init__(self, text: str, **types: str) -> None:
        numbers = {name: f"${number}" for number, name in enumerate(types, 1)}
        body = re.sub(r"%\((\w+)\)s", lambda match: numbers[match[1]], text)
        name = "crowdd_" + hashlib.sha256(text.encode()).hexdigest()[:16]
        declared = f" ({', '.join(types.values())})" if types else ""
        values = f" ({', '.join(f'%({name})s' for name in types)})" if types else ""
        self.__attrs_init__(text, name, f"PREPARE {name}{declared} AS {body}", f"EXECUTE {name}{values}")


Statement = str | Prepared


class Database(Protocol):
    """Runs statements; ``%(name)s`` stands for a value."""

    async def fetch(self, sql: Statement, values: Values = None) -> list[Row]:
        """The rows of a statement as dicts."""
        ...

    async def execute(self, sql: Statement, values: Values = None) -> int:
        """The number of rows that a statement changed."""
        ...


class Reading(Protocol):
    """What runs transactions, perhaps only such that change nothing (``crowdd.database.replica``)."""

    async def transaction(self, work: Callable[[Database], Awaitable[T]]) -> T:
        """The result of ``work``, committed; rolled back when it raises."""
        ...


class Transactions(Database, Reading, Protocol):
    """A database that also runs transactions; ``crowdd.database.pool.Pool`` is one.

    ``no_space``: a statement failed because the disk of the database was full, and nobody has found room since.
    """

    no_space: bool


async def one_or_none(db: Database, sql: Statement, values: Values = None) -> Row | None:
    """The first row, or None; for values that the calling function takes out of it."""
    rows = await db.fetch(sql, values)
    return rows[0] if rows else None


async def one(db: Database, sql: Statement, values: Values = None) -> Row:
    """The one row that a statement always gives; for values that the calling function takes out of it."""
    return (await db.fetch(sql, values))[0]


def typed(row: type[R], rows: Sequence[Row]) -> list[R]:
    """The rows as their type: a TypedDict leaves them as they are, an attrs class is made from the columns."""
    return _converted(row, rows)


def _converted(row: type[R], rows: Sequence[Row]) -> list[R]:
    return cast("list[R]", rows) if is_typeddict(row) else [row(**each) for each in rows]


async def fetch_rows(db: Database, row: type[R], sql: Statement, values: Values = None) -> list[R]:
    """The rows of a statement whose columns are those of the row type."""
    return typed(row, await db.fetch(sql, values))


async def fetch_each(db: Database, row: type[R], sql: Statement, values: Values = None) -> list[R | None]:
    """The rows of a statement that looks something up for each of its values; None where the column ``id`` is null."""
    rows = await db.fetch(sql, values)
    return [typed(row, [each])[0] if each["id"] is not None else None for each in rows]


async def fetch_row_or_none(db: Database, row: type[R], sql: Statement, values: Values = None) -> R | None:
    """The first row as the row type, or None."""
    rows = typed(row, await db.fetch(sql, values))
    return rows[0] if rows else None


async def fetch_row(db: Database, row: type[R], sql: Statement, values: Values = None) -> R:
    """The one row that a statement always gives, as the row type."""
    return typed(row, await db.fetch(sql, values))[0]


def as_json(value: object) -> Json:
    """The value for a json or jsonb column; None becomes JSON's null."""
    return Json(value, dumps=lambda inner: orjson.dumps(inner).decode())


async def now(db: Database) -> datetime:
    """The time of the database's clock."""
    moment: datetime = (await one(db, "SELECT clock() AS now"))["now"]
    return moment
