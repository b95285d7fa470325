"""The server keys that this database belongs to, and values that depend on lost keys."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.storage.accounts import second_factors
from crowdd.storage.database import Database, fetch_rows, one
from crowdd.storage.server.rows import EncryptedApiKey, ServerKey

_LOCK = 0x6B6579  # any number, the same for all of ours
# Looked up by keyed hashes alone: worth nothing under another key.
HASHED = ("session", "one_time_link", "api_token", "recovery_code", "passkey")
_SAMPLE = 20


async def recorded(db: Database) -> list[ServerKey]:
    """The keys in the order of the file; none before the first start."""
    return await fetch_rows(db, ServerKey, "SELECT fingerprint, id FROM server_key ORDER BY line DESC")


async def lock(tx: Database) -> None:
    """Wait until nobody else changes the record of keys; it lasts as long as the transaction."""
    await tx.fetch("SELECT pg_advisory_xact_lock(%(lock)s)", {"lock": _LOCK})


async def record(tx: Database, keys: Sequence[tuple[bytes, bytes]]) -> None:
    """Replace the record by fingerprints and ids, in the order of the file."""
    await tx.execute("DELETE FROM server_key")
    lines = range(len(keys) - 1, -1, -1)
    await tx.execute(
        "INSERT INTO server_key (line, fingerprint, id) SELECT * FROM unnest(%(lines)s::int[], %(prints)s::bytea[], %(ids)s::bytea[])",
        {"lines": [*lines], "prints": [key[0] for key in keys], "ids": [key[1] for key in keys]},
    )


async def encrypted_sample(db: Database) -> list[EncryptedApiKey]:
    """The encrypted API keys of the oldest and newest accounts: ``id`` and ``encrypted``."""
    part = "(SELECT id, api_key_encrypted AS encrypted FROM account ORDER BY id {} LIMIT " + str(_SAMPLE) + ")"
    return await fetch_rows(db, EncryptedApiKey, f"{part.format('')} UNION {part.format('DESC')}")


async def count_hashed(db: Database, table: str) -> int:
    """How many rows of a table of ``HASHED`` there are."""
    return int((await one(db, f"SELECT count(*) AS n FROM {table}"))["n"])


async def forget_hashed(tx: Database) -> None:
    """Remove what can only be found by a keyed hash."""
    for table in HASHED:
        await tx.execute(f"DELETE FROM {table}")
    await tx.execute(
        "UPDATE account SET second_factor = EXISTS (SELECT FROM totp WHERE user_id = account.id AND confirmed IS NOT NULL)"
        " WHERE second_factor"
    )


async def accounts_after(db: Database, last: int, maximum: int) -> list[EncryptedApiKey]:
    """The next accounts in the order of their ids: ``id`` and ``encrypted``, the API key."""
    return await fetch_rows(
        db,
        EncryptedApiKey,
        "SELECT id, api_key_encrypted AS encrypted FROM account WHERE id > %(last)s ORDER BY id LIMIT %(maximum)s",
        {"last": last, "maximum": maximum},
    )


async def set_api_key(tx: Database, user_id: int, hashed: bytes, encrypted: bytes) -> None:
    """Replace what an API key is found by, and the key."""
    await tx.execute(
        "UPDATE account SET api_key_hash = %(hashed)s, api_key_encrypted = %(encrypted)s WHERE id = %(id)s",
        {"id": user_id, "hashed": hashed, "encrypted": encrypted},
    )


async def set_project_key(tx: Database, project_id: int, encrypted: bytes) -> None:
    """Replace the secret key of a project."""
    await tx.execute(
        "UPDATE project SET secret_key_encrypted = %(encrypted)s WHERE id = %(id)s",
        {"id": project_id, "encrypted": encrypted},
    )


async def set_webhook_secret(tx: Database, project_id: int, encrypted: bytes) -> None:
    """Replace the secret of a webhook; the one before it is forgotten."""
    await tx.execute(
        "UPDATE webhook SET secret_encrypted = %(encrypted)s, old_secret_encrypted = NULL WHERE project_id = %(id)s",
        {"id": project_id, "encrypted": encrypted},
    )


async def forget_old_webhook_secret(tx: Database, project_id: int) -> None:
    """Forget the secret that a webhook had before."""
    await tx.execute("UPDATE webhook SET old_secret_encrypted = NULL WHERE project_id = %(id)s", {"id": project_id})


async def forget_authenticator(tx: Database, user_id: int) -> None:
    """Remove an account's authenticator app; its second factor is then a passkey, if it has one."""
    await tx.execute("DELETE FROM totp WHERE user_id = %(id)s", {"id": user_id})
    await second_factors.refresh(tx, user_id)


async def forget_provider_token(tx: Database, user_id: int, provider: str) -> None:
    """Remove what a provider gave for an account."""
    await tx.execute(
        "DELETE FROM provider_token WHERE user_id = %(id)s AND provider = %(provider)s",
        {"id": user_id, "provider": provider},
    )
