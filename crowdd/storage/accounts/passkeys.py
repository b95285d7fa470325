"""Passkeys: public keys of people's devices, and challenges that were answered."""

from __future__ import annotations

from crowdd.storage.accounts.rows import Passkey, UsedPasskey
from crowdd.storage.database import Database, fetch_row_or_none, fetch_rows

_COLUMNS = "id, user_id, credential_id, public_key, sign_count, name, created, last_used, address_proved"


async def of_user(db: Database, user_id: int) -> list[Passkey]:
    """The passkeys of an account, the oldest first."""
    return await fetch_rows(
        db, Passkey, f"SELECT {_COLUMNS} FROM passkey WHERE user_id = %(user)s ORDER BY id", {"user": user_id}
    )


async def by_credential(db: Database, credential_id: bytes) -> UsedPasskey | None:
    """The passkey with this credential id, with ``blocked`` and ``access_version`` of its account."""
    return await fetch_row_or_none(
        db,
        UsedPasskey,
        f'SELECT {_COLUMNS}, a."restrict" AS blocked, a.access_version FROM passkey p, LATERAL'
        ' (SELECT "restrict", access_version FROM account WHERE id = p.user_id) a WHERE credential_id = %(credential)s',
        {"credential": credential_id},
    )


async def add(tx: Database, user_id: int, credential_id: bytes, public_key: bytes, sign_count: int, name: str) -> bool:
    """Stores a passkey, and whether the e-mail address is proved; False when the credential is registered already."""
    return (
        await tx.execute(
            "INSERT INTO passkey (user_id, credential_id, public_key, sign_count, name, created, address_proved)"
            " SELECT id, %(credential)s, %(key)s, %(count)s, %(name)s, clock(), valid_email FROM account WHERE id = %(user)s"
            " ON CONFLICT (credential_id) DO NOTHING",
            {"user": user_id, "credential": credential_id, "key": public_key, "count": sign_count, "name": name},
        )
        > 0
    )


async def count_use(tx: Database, passkey_id: int, before: int, after: int) -> bool:
    """Stores the counter of a use; False when another use was stored since ``before`` was read."""
    return (
        await tx.execute(
            "UPDATE passkey SET sign_count = %(after)s, last_used = clock() WHERE id = %(id)s AND sign_count = %(before)s",
            {"id": passkey_id, "before": before, "after": after},
        )
        > 0
    )


async def drop(tx: Database, user_id: int, passkey_id: int) -> bool:
    """Removes a passkey of an account; False when it has none of that id."""
    sql = "DELETE FROM passkey WHERE user_id = %(user)s AND id = %(id)s"
    return await tx.execute(sql, {"user": user_id, "id": passkey_id}) > 0


async def use_challenge(tx: Database, challenge_hash: bytes, seconds: int) -> bool:
    """Uses a challenge up; False when it was answered before."""
    return (
        await tx.execute(
            "INSERT INTO used_challenge (challenge_hash, expires) VALUES (%(hash)s, clock() + make_interval(secs => %(seconds)s))"
            " ON CONFLICT DO NOTHING",
            {"hash": challenge_hash, "seconds": seconds},
        )
        > 0
    )
