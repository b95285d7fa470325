"""Which providers accounts sign in with, and since when; the id of a person there is in the account's row."""

from __future__ import annotations

from crowdd.storage.database import Database


async def connect(tx: Database, user_id: int, provider: str, provider_id: str) -> None:
    """Lets an account sign in as this person of a provider, and notes whether its e-mail address is proved."""
    await tx.execute(
        f"UPDATE account SET {provider}_user_id = %(provider)s WHERE id = %(user)s",
        {"user": user_id, "provider": provider_id},
    )
    await tx.execute(
        "INSERT INTO provider_connection (user_id, provider, created, address_proved)"
        " SELECT id, %(provider)s, clock(), valid_email FROM account WHERE id = %(user)s"
        " ON CONFLICT (user_id, provider) DO UPDATE SET created = excluded.created, address_proved = excluded.address_proved",
        {"user": user_id, "provider": provider},
    )


async def disconnect(tx: Database, user_id: int, provider: str) -> None:
    """Ends that, and forgets the token of the person there."""
    await tx.execute(f"UPDATE account SET {provider}_user_id = NULL WHERE id = %(user)s", {"user": user_id})
    for table in ("provider_connection", "provider_token"):
        await tx.execute(
            f"DELETE FROM {table} WHERE user_id = %(user)s AND provider = %(provider)s",
            {"user": user_id, "provider": provider},
        )
