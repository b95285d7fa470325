"""Columns with encrypted values, for a new key: read and replaced in parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from crowdd.storage.core.rows import EncryptedValue
from crowdd.storage.database import Database, fetch_rows

CHUNK = 500


@attrs.frozen
class Column:
    """An encrypted column: ``keys`` is the primary key, ``place`` the column that values are encrypted for."""

    table: str
    column: str
    keys: tuple[str, ...] = ("id",)
    place: str = ""

    @property
    def encrypted_for(self) -> str:
        """The column that the place of a value names."""
        return self.place or self.column


COLUMNS = (
    Column("account", "api_key_encrypted"),
    Column("project", "secret_key_encrypted"),
    Column("webhook", "secret_encrypted", ("project_id",)),
    Column("webhook", "old_secret_encrypted", ("project_id",), place="secret_encrypted"),
    Column("totp", "encrypted", ("user_id",)),
    Column("provider_token", "encrypted", ("user_id", "provider")),
    Column("deposit", "token_encrypted"),
)


def key_of(column: Column, row: EncryptedValue) -> list[object]:
    """The primary key of a value, in the order of the column's ``keys``."""
    values: Mapping[str, object] = row
    return [values[name] for name in column.keys]


async def outdated(db: Database, column: Column, prefix: bytes, after: Sequence[object] | None) -> list[EncryptedValue]:
    """The next values that do not begin with the prefix, in the order of their keys: the keys and ``encrypted``."""
    keys = ", ".join(column.keys)
    marks = ", ".join(f"%(after_{key})s" for key in column.keys)
    beyond = f" AND ({keys}) > ({marks})" if after else ""
    values = {f"after_{key}": value for key, value in zip(column.keys, after or (), strict=False)}
    return await fetch_rows(
        db,
        EncryptedValue,
        f"SELECT {keys}, {column.column} AS encrypted FROM {column.table}"
        f" WHERE {column.column} IS NOT NULL AND substring({column.column} FROM 1 FOR length(%(prefix)s::bytea)) <> %(prefix)s::bytea{beyond}"
        f" ORDER BY {keys} LIMIT {CHUNK}",
        {"prefix": prefix, **values},
    )


async def replace(db: Database, column: Column, row: EncryptedValue, encrypted: bytes) -> bool:
    """Put a value in the place of the one that was read; False when another one is there meanwhile."""
    same = " AND ".join(f"{key} = %({key})s" for key in column.keys)
    changed = await db.execute(
        f"UPDATE {column.table} SET {column.column} = %(new)s WHERE {same} AND {column.column} = %(encrypted)s",
        {**row, "encrypted": bytes(row["encrypted"]), "new": encrypted},
    )
    return changed == 1


async def any_beginning(db: Database, column: Column, prefix: bytes) -> bool:
    """Whether there is a value that begins with the prefix."""
    rows = await db.fetch(
        f"SELECT 1 AS found FROM {column.table}"
        f" WHERE substring({column.column} FROM 1 FOR length(%(prefix)s::bytea)) = %(prefix)s::bytea LIMIT 1",
        {"prefix": prefix},
    )
    return bool(rows)
