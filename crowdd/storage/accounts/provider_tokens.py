"""Tokens that providers gave for their own APIs, encrypted."""

from __future__ import annotations

from crowdd.storage.accounts.rows import ProviderToken
from crowdd.storage.database import Database, fetch_rows


async def keep(db: Database, user_id: int, provider: str, encrypted: bytes) -> None:
    """Stores the latest token of a person at a provider."""
    await db.execute(
        "INSERT INTO provider_token (user_id, provider, encrypted, created) VALUES (%(user)s, %(provider)s, %(encrypted)s, clock())"
        " ON CONFLICT (user_id, provider) DO UPDATE SET encrypted = excluded.encrypted, created = excluded.created",
        {"user": user_id, "provider": provider, "encrypted": encrypted},
    )


async def of_user(db: Database, user_id: int) -> list[ProviderToken]:
    """The encrypted tokens of a person."""
    return await fetch_rows(
        db,
        ProviderToken,
        "SELECT provider, encrypted FROM provider_token WHERE user_id = %(user)s ORDER BY provider",
        {"user": user_id},
    )
