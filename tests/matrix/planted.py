"""Values that stand nowhere but in one attribute of one row, so that they are recognised wherever they come out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import attrs
import orjson
from matrix.example_site import Stage, roles, sees_hidden
from psycopg2.extras import Json as AsJson

from crowdd.features.accounts.feature import AccountsFeature
from crowdd.kinds import KINDS
from crowdd.kinds.kind import Field, Kind, Write
from crowdd.kinds.roles import WHOLE_INFO, Role
from crowdd.kinds.types import Boolean, Integer, Json, Number, ShortName, Text, Timestamp

PUBLIC_KEY = "container"  # of info: read by everybody where a kind has public keys at all
# What other rows or the rights hang on: these keep the values that they have.
_LEFT = frozenset(
    {
        "id", "project_id", "task_id", "user_id", "owner_id", "owners_ids", "category_id", "published", "state",
        "task_run_ids", "last_version", "fav_user_ids", "admin", "restrict", "privacy_mode", "api_key", "secret_key",
        "passwd_hash", "name", "short_name",
    }
)  # fmt: skip
_LEDGER = frozenset({"n_answers", "priority_0"})


def value_for(kind: Kind, field: Field, number: int) -> Any:
    """A value of the attribute's type; that of the first row is larger than that of the second, whose id is larger."""
    rest = list(KINDS).index(kind.name) * 100 + list(kind.by_name).index(field.name)
    if field.name == "n_answers":
        return 1000 + rest - number  # small by its type
    if isinstance(field.type, Boolean):
        return number % 2 == 0
    if isinstance(field.type, Number) and field.type.maximum == 1:
        return 0.9 - number / 16 - rest / 100_000
    if isinstance(field.type, Number):
        return 1_000_000 + rest * 10 - number + 0.625
    if isinstance(field.type, Integer):
        return 90_000_000 + rest * 10 - number
    if isinstance(field.type, Timestamp):
        return f"19{90 - number}-02-03T04:05:06.{rest:06d}"
    mark = f"{chr(ord('z') - number)}-{kind.name}-{field.name}-planted"
    if isinstance(field.type, Json):
        return {PUBLIC_KEY: f"public-{mark}", "note": f"private-{mark}"}
    assert isinstance(field.type, Text), field.type
    return mark[:10] if isinstance(field.type, ShortName) else mark


async def plant(stage: Stage) -> None:
    """Gives every attribute of every row its value, past the API, so that what only the server sets is planted too."""
    for kind in KINDS.values():
        for number, row_id in enumerate((*stage.rows[kind.name], *stage.hidden.get(kind.name, ()))):
            for field in kind.fields:
                if field.write is not Write.COMPUTED and field.name not in _LEFT:
                    await _set(stage, kind, field, row_id, value_for(kind, field, number))
    await stage.sql("UPDATE project SET first_published = '1980-01-01' RETURNING 1")


async def _set(stage: Stage, kind: Kind, field: Field, row_id: int, value: Any) -> None:
    ledger = kind.name == "task" and field.name in _LEDGER
    table, column = ("task_ledger", "task_id") if ledger else (kind.table, "id")
    stored = AsJson(value) if isinstance(field.type, Json) else value
    sql = f'UPDATE {table} SET "{field.name}" = %(value)s WHERE {column} = %(id)s RETURNING 1'
    await stage.sql(sql, value=stored, id=row_id)


@attrs.frozen
class Value:
    """One attribute of one row; ``truth`` is what an administrator reads, in the shape of the API."""

    kind: Kind
    field: Field
    row_id: int
    number: int
    truth: Any
    hidden: bool

    def readable(self, requester: str) -> bool:
        """Whether the declaration lets the requester read it."""
        if self.hidden and not sees_hidden(self.kind.name, requester):
            return False
        return bool(self.field.read & self.roles(requester))

    def roles(self, requester: str) -> frozenset[Role]:
        """What the requester is to the row."""
        return roles(self.kind.name, requester, self.number)

    def texts(self, requester: str) -> Iterator[str]:
        """The texts by which the value is recognised, those left out that the requester may read."""
        if isinstance(self.truth, dict):
            whole = self.roles(requester) & WHOLE_INFO or self.kind.public_info is None
            for key, text in self.truth.items():
                if not (self.readable(requester) and (whole or key in (self.kind.public_info or ()))):
                    yield str(text)
        elif not self.readable(requester):
            yield from recognised(self.truth)

    def as_filter(self) -> str:
        """The value as a list takes it."""
        text = self.truth if isinstance(self.truth, str) else orjson.dumps(self.truth).decode()
        return quote(text, safe="")


def recognised(truth: Any) -> Iterator[str]:
    """The texts of a value that is long enough to be told from others."""
    if isinstance(truth, list):
        for item in truth:
            yield from recognised(item)
    elif isinstance(truth, str) and len(truth) >= 8:
        yield truth
    elif isinstance(truth, int | float) and not isinstance(truth, bool) and truth >= 1_000_000:
        yield str(truth)


async def values_of(stage: Stage) -> list[Value]:
    """Every attribute of every planted row."""
    values: list[Value] = []
    for hidden, rows in ((False, stage.rows), (True, stage.hidden)):
        for name, ids in rows.items():
            for number, row_id in enumerate(ids):
                truth = (await stage["admin"].get(f"/api/{name}/{row_id}")).json()
                if name == "user":  # no key reads keys of others
                    accounts = stage.served.house[AccountsFeature].accounts
                    truth["api_key"] = accounts.api_key(await accounts.profile(row_id))
                fields = KINDS[name].fields
                values += [Value(KINDS[name], f, row_id, number, truth[f.name], hidden) for f in fields]
    return values
