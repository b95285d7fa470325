"""Whether secret.key is the one that the database was used with: compared at every start, recorded at the first."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from pathlib import Path

import attrs
from cryptography.exceptions import InvalidTag

from crowdd.domain.core import secrets as root_keys
from crowdd.domain.core.secrets import Secrets, encryption_prefix, key_id, place
from crowdd.errors import CrowddError
from crowdd.storage.core import encrypted_columns
from crowdd.storage.database import Bytea, Database, Transactions
from crowdd.storage.server import server_keys
from crowdd.storage.server.rows import ServerKey

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


FITTING = (Match.UNRECORDED, Match.SAME, Match.CHANGED)


def compare(recorded: Sequence[bytes], present: Sequence[bytes]) -> Match:
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
        """See ``compare``."""
        present = self.present.fingerprints if self.present else ()
        return compare([bytes(row["fingerprint"]) for row in self.recorded], present)

    def complaint(self, folder: Path) -> str:
        """What is wrong, as a sentence; empty when nothing is."""
        if self.match in FITTING:
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


async def find(db: Database, present: Secrets | None) -> KeyState:
    """Compare the record of the database with these secrets."""
    return KeyState(await server_keys.recorded(db), present)


async def reconcile(db: Transactions, folder: Path, secrets: Secrets) -> None:
    """Make sure that these secrets of the folder are the database's; the first ones that come are recorded.

    Raises ServerKeyError for others; then nothing has changed, and a candidate made for this start is gone.
    """
    try:
        if root_keys.existing(folder) is None or (await find(db, secrets)).match is not Match.SAME:
            await db.transaction(lambda tx: _settle(tx, folder, secrets))
    except ServerKeyError:
        root_keys.forget_candidate(folder)
        raise


async def _settle(tx: Database, folder: Path, secrets: Secrets) -> None:
    await server_keys.lock(tx)
    match = await require(tx, folder, secrets)
    if root_keys.existing(folder) is None:
        root_keys.keep(folder, secrets)
    if match is not Match.SAME:
        await record(tx, secrets)


async def require(db: Database, folder: Path, secrets: Secrets) -> Match:
    """How the secrets of the folder, kept or a candidate, fit the database. Raises ServerKeyError; changes nothing."""
    finding = await find(db, secrets)
    if complaint := finding.complaint(folder):
        lost = root_keys.existing(folder) is None
        raise ServerKeyError(attrs.evolve(finding, present=None).complaint(folder) if lost else complaint)
    if finding.match is Match.UNRECORDED:
        await _require_opened(db, folder, secrets)
    if finding.match is Match.CHANGED:
        await _require_unused(db, finding, folder)
    return finding.match


async def record(tx: Database, secrets: Secrets) -> None:
    """Note that the database belongs to these secrets."""
    ids = [key_id(root) for root in secrets.roots]
    await server_keys.record(tx, [*zip(secrets.fingerprints, ids, strict=True)])


async def _require_opened(tx: Database, folder: Path, secrets: Secrets) -> None:
    """The first record of a used database: the file has to open what is encrypted in it."""
    sample = await server_keys.encrypted_sample(tx)
    if not sample or any(opens(secrets, "account", "api_key_encrypted", row["id"], row["encrypted"]) for row in sample):
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
        if any([await encrypted_columns.any_beginning(tx, column, prefix) for column in encrypted_columns.COLUMNS]):
            path, name = folder.absolute() / root_keys.FILE, bytes(row["id"]).hex()
            raise ServerKeyError(
                f"Key {name} is missing in {path}, and secrets are encrypted with it.",
                hint=f"Put its line back, and run crowdctl secrets rotate before you remove it. {WHAT_TO_DO}",
            )


def opens(secrets: Secrets, table: str, column: str, key: object, value: Bytea) -> bool:
    """Whether the secrets open an encrypted value of this place."""
    try:
        secrets.decrypt(value, place(table, column, key))
    except (InvalidTag, UnicodeDecodeError):
        return False
    return True
