"""Going on without a lost key: what depended on it is created again or removed, and the database takes the new file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

import attrs
from cryptography.exceptions import InvalidTag

from crowdd.domain.core import secrets as root_keys
from crowdd.domain.core.secrets import Secrets, place, token
from crowdd.domain.projects.projects import new_secret_key
from crowdd.domain.server import server_key
from crowdd.domain.webhooks import signatures, webhooks
from crowdd.requester import SYSTEM
from crowdd.storage.core import audit, encrypted_columns
from crowdd.storage.core.rows import EncryptedValue
from crowdd.storage.database import Database, Transactions
from crowdd.storage.server import audit_chain, server_keys
from crowdd.storage.server.rows import EncryptedApiKey
from crowdd.storage.transfer import deposits

_CHUNK = 200
Renew = Callable[[Database, EncryptedValue], Awaitable[None]]

# What a person is told of each table and column whose values are lost.
WORDS = {
    "account.api_key_encrypted": "API keys are replaced: programs that use the old ones get 401",
    "project.secret_key_encrypted": "secret keys of projects are replaced: tokens for external users stop working",
    "webhook.secret_encrypted": "webhook secrets are replaced: receivers refuse messages until they have the new one",
    "webhook.old_secret_encrypted": "former webhook secrets are deleted",
    "totp.encrypted": "authenticator apps are removed: the password alone signs these people in",
    "provider_token.encrypted": "tokens of sign-in providers are deleted",
    "deposit.token_encrypted": "access tokens of repositories are deleted: remove these deposits and begin again",
    "session": "sessions end: people sign in again",
    "one_time_link": "links in e-mails and administrator links stop working",
    "api_token": "named API tokens stop working and are removed",
    "passkey": "passkeys stop working and are removed",
    "recovery_code": "recovery codes stop working and are removed",
}
ALSO = (
    "Volunteers without an account count as new ones, and pseudonyms of addresses change. Links to uploaded files of "
    "restricted projects change."
)


@attrs.frozen
class Loss:
    """How many values of a column or rows of a table are lost."""

    what: str
    number: int

    def sentence(self) -> str:
        """For people."""
        return f"{self.number} {WORDS[self.what]}."


class KeyReplacement:
    """``secrets`` are those of the folder, which the database does not know. It can be broken off and begun again."""

    def __init__(self, db: Transactions, folder: Path, secrets: Secrets) -> None:
        self._db, self._folder, self._secrets = db, folder, secrets
        self._renewals: dict[str, Renew] = {
            "project.secret_key_encrypted": self._renew_project,
            "webhook.secret_encrypted": self._renew_webhook,
            "webhook.old_secret_encrypted": _forget_old_webhook_secret,
            "totp.encrypted": _forget_authenticator,
            "provider_token.encrypted": _forget_provider_token,
            "deposit.token_encrypted": _forget_deposit_token,
        }

    async def needed(self) -> bool:
        """Whether the database was used with other keys."""
        try:
            await server_key.require(self._db, self._folder, self._secrets)
        except server_key.ServerKeyError:
            return True
        return False

    async def losses(self) -> list[Loss]:
        """What is lost when the database takes these secrets. Changes nothing."""
        possible_losses = [await self._column(column, None) for column in encrypted_columns.COLUMNS]
        if await self._lookups_change():
            possible_losses += [
                Loss(table, await server_keys.count_hashed(self._db, table)) for table in server_keys.HASHED
            ]
        return [loss for loss in possible_losses if loss.number]

    async def run(self) -> list[Loss]:
        """Create again what is lost, or remove it; then the database belongs to these secrets."""
        expected_losses = await self.losses()
        lookups_change = await self._lookups_change()
        for column in encrypted_columns.COLUMNS:
            await self._column(column, self._renewals.get(_name(column)))
        await self._api_keys(everybody=lookups_change)
        await self._db.transaction(lambda tx: self._finish(tx, lookups_change))
        return expected_losses

    async def _lookups_change(self) -> bool:
        recorded = await server_keys.recorded(self._db)
        return not recorded or bytes(recorded[-1]["fingerprint"]) != self._secrets.fingerprints[-1]

    async def _finish(self, tx: Database, lookups_change: bool) -> None:
        await server_keys.lock(tx)
        if lookups_change:
            await server_keys.forget_hashed(tx)
            await audit_chain.restart(tx)
        if root_keys.existing(self._folder) is None:
            root_keys.keep(self._folder, self._secrets)
        await server_key.record(tx, self._secrets)
        await audit.write(tx, SYSTEM, "adopt_key", "server", None)

    async def _column(self, column: encrypted_columns.Column, renew: Renew | None) -> Loss:
        """How many values of a column are lost; each is renewed in a transaction of its part."""
        lost, after = 0, None
        while rows := await encrypted_columns.outdated(self._db, column, self._secrets.encryption_prefix, after):
            after = encrypted_columns.key_of(column, rows[-1])
            unreadable = [row for row in rows if not self._opens(column, row)]
            lost += len(unreadable)
            if renew and unreadable:
                await self._db.transaction(partial(_each, renew, unreadable))
        return Loss(_name(column), lost)

    def _opens(self, column: encrypted_columns.Column, row: EncryptedValue) -> bool:
        key = ".".join(map(str, encrypted_columns.key_of(column, row)))
        return server_key.opens(self._secrets, column.table, column.encrypted_for, key, row["encrypted"])

    async def _api_keys(self, *, everybody: bool) -> None:
        """A key that can be opened stays as it is, found by the new hash; others are created again."""
        last = 0
        while rows := await server_keys.accounts_after(self._db, last, _CHUNK):
            last = rows[-1]["id"]
            await self._db.transaction(partial(self._some_api_keys, rows, everybody))

    async def _some_api_keys(self, rows: Sequence[EncryptedApiKey], everybody: bool, tx: Database) -> None:
        for row in rows:
            where = place("account", "api_key_encrypted", row["id"])
            try:
                key = self._secrets.decrypt(row["encrypted"], where)
                if not everybody:
                    continue
            except InvalidTag:
                key = token()
            hashed = self._secrets.digest("api_key", key)
            await server_keys.set_api_key(tx, row["id"], hashed, self._secrets.encrypt(key, where))

    async def _renew_project(self, tx: Database, row: EncryptedValue) -> None:
        await server_keys.set_project_key(tx, row["id"], new_secret_key(self._secrets, row["id"]))

    async def _renew_webhook(self, tx: Database, row: EncryptedValue) -> None:
        secret = webhooks.encrypted(self._secrets, signatures.new_secret(), row["project_id"])
        await server_keys.set_webhook_secret(tx, row["project_id"], secret)


async def _each(renew: Renew, rows: Sequence[EncryptedValue], tx: Database) -> None:
    for row in rows:
        await renew(tx, row)


async def _forget_old_webhook_secret(tx: Database, row: EncryptedValue) -> None:
    await server_keys.forget_old_webhook_secret(tx, row["project_id"])


async def _forget_authenticator(tx: Database, row: EncryptedValue) -> None:
    await server_keys.forget_authenticator(tx, row["user_id"])


async def _forget_provider_token(tx: Database, row: EncryptedValue) -> None:
    await server_keys.forget_provider_token(tx, row["user_id"], row["provider"])


async def _forget_deposit_token(tx: Database, row: EncryptedValue) -> None:
    await deposits.set_token(tx, row["id"], None)


def _name(column: encrypted_columns.Column) -> str:
    return f"{column.table}.{column.column}"
