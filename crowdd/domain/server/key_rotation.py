"""Brings every encrypted value under the first key, bound to its place; can be broken off and begun again."""

from __future__ import annotations

import attrs
from cryptography.exceptions import InvalidTag

from crowdd.domain.core.secrets import Secrets, place
from crowdd.storage.core import encrypted_columns
from crowdd.storage.core.rows import EncryptedValue
from crowdd.storage.database import Database, Transactions


@attrs.frozen
class Reencrypted:
    """How many values of a column were encrypted again, and how many no key opens."""

    table: str
    column: str
    changed: int
    unreadable: int


class KeyRotation:
    """A part of a column is one transaction: values that were encrypted by the first key already are left out."""

    def __init__(self, db: Transactions, secrets: Secrets) -> None:
        self._db, self._secrets = db, secrets

    async def run(self) -> list[Reencrypted]:
        """Encrypt again what is not encrypted with the first key."""
        return [await self._column(column) for column in encrypted_columns.COLUMNS]

    async def _column(self, column: encrypted_columns.Column) -> Reencrypted:
        changed = unreadable = 0
        after: list[object] | None = None
        while rows := await encrypted_columns.outdated(self._db, column, self._secrets.encryption_prefix, after):
            after = encrypted_columns.key_of(column, rows[-1])
            new = {
                index: value for index, row in enumerate(rows) if (value := self._encrypted(column, row)) is not None
            }
            unreadable += len(rows) - len(new)
            changed += await self._replace(column, [(rows[index], value) for index, value in new.items()])
        return Reencrypted(column.table, column.column, changed, unreadable)

    def _encrypted(self, column: encrypted_columns.Column, row: EncryptedValue) -> bytes | None:
        where = place(column.table, column.encrypted_for, ".".join(map(str, encrypted_columns.key_of(column, row))))
        try:
            return self._secrets.encrypt(self._secrets.decrypt(row["encrypted"], where), where)
        except InvalidTag:
            return None

    async def _replace(self, column: encrypted_columns.Column, values: list[tuple[EncryptedValue, bytes]]) -> int:
        async def work(tx: Database) -> int:
            return sum([await encrypted_columns.replace(tx, column, row, value) for row, value in values])

        return await self._db.transaction(work)
