"""Check secret.key against the database, encrypt values under a new key, and go on without a lost one.

The key is recorded at the first start and compared at every other. Rotation binds every value to its place, and can be
interrupted and started again. Without a lost key, what depended on it is created again or removed.
"""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

import attrs
from cryptography.exceptions import InvalidTag

from crowdd.core import audit_statements, log_statements
from crowdd.core import secrets as root_keys
from crowdd.core import statements as core_statements
from crowdd.core.rows import EncryptedValue
from crowdd.core.secrets import Secrets, encryption_prefix, key_id, place, token
from crowdd.database.access import Bytea, Database, Transactions
from crowdd.features.operations import statements
from crowdd.features.projects.projects import new_secret_key
from crowdd.features.snapshots import statements as snapshot_statements
from crowdd.kernel.errors import CrowddError
from crowdd.kernel.requester import SYSTEM
from crowdd.sched import webhook_messages
from crowdd.sched.rows import EncryptedApiKey, ServerKey

WHAT_TO_DO = (
    "Put the file of this database back (from a backup or the other machine), or correct [data] dir. If it is lost, "
    "crowdctl secrets adopt says what stops working, and crowdctl secrets adopt --new-key goes on without it."
)


class ServerKeyError(CrowddError):
    """The database was used with other keys than those of secret.key; nothing was changed."""

    code = "server_key"
    hint = WHAT_TO_DO


class Match(enum.Enum):
    """What a comparison of the database's record with the lines of the file finds."""

    UNRECORDED = "no key is recorded"
    SAME = "the same lines"
    CHANGED = "a line was added or removed in a way that loses nothing by itself"
    OTHER = "another key file"
    OUTDATED = "an older copy of the file"


FITTING_MATCHES = (Match.UNRECORDED, Match.SAME, Match.CHANGED)


def compare_keys(recorded: Sequence[bytes], present: Sequence[bytes]) -> Match:
    """How the fingerprints of the record and of the file, both in the order of its lines, fit together.

    The last line must stay, for look-ups are made with it; the first one of the record must be there, for new values
    are encrypted with it. Lines before the first are new keys, those between were taken out after a rotation.
    """
    if not recorded:
        return Match.UNRECORDED
    if not present or present[-1] != recorded[-1]:
        return Match.OTHER
    if recorded[0] not in present:
        return Match.OUTDATED
    return Match.SAME if list(recorded) == list(present) else Match.CHANGED


@attrs.frozen
class KeyState:
    """How the file of a folder and the record of a database fit; ``present`` is None without a file."""

    recorded: Sequence[ServerKey]
    present: Secrets | None

    @property
    def match(self) -> Match:
        """See ``compare_keys``."""
        present = self.present.fingerprints if self.present else ()
        return compare_keys([bytes(row["fingerprint"]) for row in self.recorded], present)

    def complaint(self, folder: Path) -> str:
        """What is wrong, as a sentence; empty when nothing is."""
        if self.match in FITTING_MATCHES:
            return ""
        if self.present is None:
            return f"{folder.absolute()} contains no {root_keys.FILE}, but the database was used with one."
        name = key_id(self.present.roots[-1]).hex()
        if self.match is Match.OTHER:
            known = bytes(self.recorded[-1]["id"]).hex()
            return (
                f"{folder.absolute() / root_keys.FILE} is not the key file of this database: its last line is key "
                f"{name}, the database was used with key {known}."
            )
        missing = bytes(self.recorded[0]["id"]).hex()
        return f"{folder.absolute() / root_keys.FILE} is an older copy: key {missing} of this database is missing."


async def read_key_state(db: Database, present: Secrets | None) -> KeyState:
    """Compare the record of the database with these secrets."""
    return KeyState(await statements.list_server_keys(db), present)


async def reconcile_keys(db: Transactions, folder: Path, secrets: Secrets) -> None:
    """Make sure that these secrets of the folder are the database's; the first ones that come are recorded.

    Raises ServerKeyError for others; then nothing has changed, and a candidate made for this start is gone.
    """
    try:
        if root_keys.existing(folder) is None or (await read_key_state(db, secrets)).match is not Match.SAME:
            await db.transaction(lambda tx: _settle(tx, folder, secrets))
    except ServerKeyError:
        root_keys.forget_candidate(folder)
        raise


async def _settle(tx: Database, folder: Path, secrets: Secrets) -> None:
    await statements.lock_server_keys(tx)
    match = await require_fitting(tx, folder, secrets)
    if root_keys.existing(folder) is None:
        root_keys.keep(folder, secrets)
    if match is not Match.SAME:
        await record_keys(tx, secrets)


async def require_fitting(db: Database, folder: Path, secrets: Secrets) -> Match:
    """How the secrets of the folder, kept or a candidate, fit the database. Raises ServerKeyError; changes nothing."""
    finding = await read_key_state(db, secrets)
    if complaint := finding.complaint(folder):
        lost = root_keys.existing(folder) is None
        raise ServerKeyError(attrs.evolve(finding, present=None).complaint(folder) if lost else complaint)
    if finding.match is Match.UNRECORDED:
        await _require_opened(db, folder, secrets)
    if finding.match is Match.CHANGED:
        await _require_unused(db, finding, folder)
    return finding.match


async def record_keys(tx: Database, secrets: Secrets) -> None:
    """Note that the database belongs to these secrets."""
    ids = [key_id(root) for root in secrets.roots]
    await statements.replace_server_keys(tx, [*zip(secrets.fingerprints, ids, strict=True)])


async def _require_opened(tx: Database, folder: Path, secrets: Secrets) -> None:
    """The first record of a used database: the file has to open what is encrypted in it."""
    sample = await statements.sample_api_keys(tx)
    if not sample or any(
        opens_value(secrets, "account", "api_key_encrypted", row["id"], row["encrypted"]) for row in sample
    ):
        return
    if root_keys.existing(folder) is None:
        raise ServerKeyError(f"{folder.absolute()} contains no {root_keys.FILE}, but the database was used with one.")
    raise ServerKeyError(
        f"{folder.absolute() / root_keys.FILE} is not the key file of this database: it decrypts none of its secrets."
    )


async def _require_unused(tx: Database, finding: KeyState, folder: Path) -> None:
    """A line that was taken out must have encrypted nothing that is still there."""
    present = finding.present.fingerprints if finding.present else ()
    for row in finding.recorded:
        if bytes(row["fingerprint"]) in present:
            continue
        prefix = encryption_prefix(bytes(row["id"]))
        if any(
            [
                await core_statements.has_value_beginning(tx, column, prefix)
                for column in core_statements.ENCRYPTED_COLUMNS
            ]
        ):
            path, name = folder.absolute() / root_keys.FILE, bytes(row["id"]).hex()
            raise ServerKeyError(
                f"Key {name} is missing in {path}, and secrets are encrypted with it.",
                hint=f"Put its line back, and run crowdctl secrets rotate before you remove it. {WHAT_TO_DO}",
            )


def opens_value(secrets: Secrets, table: str, column: str, key: object, value: Bytea) -> bool:
    """Whether the secrets open an encrypted value of this place."""
    try:
        secrets.decrypt(value, place(table, column, key))
    except (InvalidTag, UnicodeDecodeError):
        return False
    return True


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
            await require_fitting(self._db, self._folder, self._secrets)
        except ServerKeyError:
            return True
        return False

    async def losses(self) -> list[Loss]:
        """What is lost when the database takes these secrets. Changes nothing."""
        possible_losses = [await self._column(column, None) for column in core_statements.ENCRYPTED_COLUMNS]
        if await self._lookups_change():
            possible_losses += [
                Loss(table, await statements.count_hashed_rows(self._db, table)) for table in statements.HASHED_TABLES
            ]
        return [loss for loss in possible_losses if loss.number]

    async def run(self) -> list[Loss]:
        """Create again what is lost, or remove it; then the database belongs to these secrets."""
        expected_losses = await self.losses()
        lookups_change = await self._lookups_change()
        for column in core_statements.ENCRYPTED_COLUMNS:
            await self._column(column, self._renewals.get(_name(column)))
        await self._api_keys(everybody=lookups_change)
        await self._db.transaction(lambda tx: self._finish(tx, lookups_change))
        return expected_losses

    async def _lookups_change(self) -> bool:
        recorded = await statements.list_server_keys(self._db)
        return not recorded or bytes(recorded[-1]["fingerprint"]) != self._secrets.fingerprints[-1]

    async def _finish(self, tx: Database, lookups_change: bool) -> None:
        await statements.lock_server_keys(tx)
        if lookups_change:
            await statements.forget_hashed_rows(tx)
            await audit_statements.restart_chain(tx)
        if root_keys.existing(self._folder) is None:
            root_keys.keep(self._folder, self._secrets)
        await record_keys(tx, self._secrets)
        await log_statements.write_act(tx, SYSTEM, "adopt_key", "server", None)

    async def _column(self, column: core_statements.EncryptedColumn, renew: Renew | None) -> Loss:
        """How many values of a column are lost; each is renewed in a transaction of its part."""
        lost, after = 0, None
        while rows := await core_statements.list_outdated_values(
            self._db, column, self._secrets.encryption_prefix, after
        ):
            after = core_statements.primary_key_of(column, rows[-1])
            unreadable = [row for row in rows if not self._opens(column, row)]
            lost += len(unreadable)
            if renew and unreadable:
                await self._db.transaction(partial(_each, renew, unreadable))
        return Loss(_name(column), lost)

    def _opens(self, column: core_statements.EncryptedColumn, row: EncryptedValue) -> bool:
        key = ".".join(map(str, core_statements.primary_key_of(column, row)))
        return opens_value(self._secrets, column.table, column.encrypted_for, key, row["encrypted"])

    async def _api_keys(self, *, everybody: bool) -> None:
        """A key that can be opened stays as it is, found by the new hash; others are created again."""
        last = 0
        while rows := await statements.list_api_keys(self._db, last, _CHUNK):
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
            await statements.set_api_key(tx, row["id"], hashed, self._secrets.encrypt(key, where))

    async def _renew_project(self, tx: Database, row: EncryptedValue) -> None:
        await statements.set_project_key(tx, row["id"], new_secret_key(self._secrets, row["id"]))

    async def _renew_webhook(self, tx: Database, row: EncryptedValue) -> None:
        secret = webhook_messages.encrypted(self._secrets, webhook_messages.new_secret(), row["project_id"])
        await statements.set_webhook_secret(tx, row["project_id"], secret)


async def _each(renew: Renew, rows: Sequence[EncryptedValue], tx: Database) -> None:
    for row in rows:
        await renew(tx, row)


async def _forget_old_webhook_secret(tx: Database, row: EncryptedValue) -> None:
    await statements.forget_old_webhook_secret(tx, row["project_id"])


async def _forget_authenticator(tx: Database, row: EncryptedValue) -> None:
    await statements.forget_authenticator(tx, row["user_id"])


async def _forget_provider_token(tx: Database, row: EncryptedValue) -> None:
    await statements.forget_provider_token(tx, row["user_id"], row["provider"])


async def _forget_deposit_token(tx: Database, row: EncryptedValue) -> None:
    await snapshot_statements.set_deposit_token(tx, row["id"], None)


def _name(column: core_statements.EncryptedColumn) -> str:
    return f"{column.table}.{column.column}"


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
        return [await self._column(column) for column in core_statements.ENCRYPTED_COLUMNS]

    async def _column(self, column: core_statements.EncryptedColumn) -> Reencrypted:
        changed = unreadable = 0
        after: list[object] | None = None
        while rows := await core_statements.list_outdated_values(
            self._db, column, self._secrets.encryption_prefix, after
        ):
            after = core_statements.primary_key_of(column, rows[-1])
            new = {
                index: value for index, row in enumerate(rows) if (value := self._encrypted(column, row)) is not None
            }
            unreadable += len(rows) - len(new)
            changed += await self._replace(column, [(rows[index], value) for index, value in new.items()])
        return Reencrypted(column.table, column.column, changed, unreadable)

    def _encrypted(self, column: core_statements.EncryptedColumn, row: EncryptedValue) -> bytes | None:
        where = place(
            column.table, column.encrypted_for, ".".join(map(str, core_statements.primary_key_of(column, row)))
        )
        try:
            return self._secrets.encrypt(self._secrets.decrypt(row["encrypted"], where), where)
        except InvalidTag:
            return None

    async def _replace(
        self, column: core_statements.EncryptedColumn, values: list[tuple[EncryptedValue, bytes]]
    ) -> int:
        async def work(tx: Database) -> int:
            return sum([await core_statements.replace_value(tx, column, row, value) for row, value in values])

        return await self._db.transaction(work)
