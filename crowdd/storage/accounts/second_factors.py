"""Second factors of accounts: the secret of an authenticator app, recovery codes, and whether there is any factor."""

from __future__ import annotations

from crowdd.storage.accounts.rows import LockedAddress, TotpSecret
from crowdd.storage.database import Database, fetch_row, fetch_row_or_none, one, one_or_none


async def has_any(db: Database, user_id: int) -> bool:
    """Whether signing in to the account takes a second factor."""
    return bool(
        (await one(db, "SELECT second_factor FROM account WHERE id = %(user)s", {"user": user_id}))["second_factor"]
    )


async def refresh(tx: Database, user_id: int) -> bool:
    """Updates the account's mark after a factor came or went; recovery codes go with the last factor."""
    row = await one(
        tx,
        "UPDATE account SET second_factor = EXISTS (SELECT FROM totp WHERE user_id = %(user)s AND confirmed IS NOT NULL)"
        " OR EXISTS (SELECT FROM passkey WHERE user_id = %(user)s) WHERE id = %(user)s RETURNING second_factor",
        {"user": user_id},
    )
    if not row["second_factor"]:
        await drop_codes(tx, user_id)
    return bool(row["second_factor"])


async def remove_all(tx: Database, user_id: int) -> int:
    """Removes every factor of an account; the number of authenticator apps and passkeys that were removed."""
    gone = await tx.execute("DELETE FROM totp WHERE user_id = %(user)s", {"user": user_id})
    gone += await tx.execute("DELETE FROM passkey WHERE user_id = %(user)s", {"user": user_id})
    await refresh(tx, user_id)
    return gone


async def lock(tx: Database, user_id: int) -> LockedAddress:
    """The address of an account, locked until the transaction ends, so that its factors do not change meanwhile."""
    return await fetch_row(
        tx,
        LockedAddress,
        "SELECT id, email_addr, valid_email, name, locale FROM account WHERE id = %(user)s FOR UPDATE",
        {"user": user_id},
    )


# Authenticator apps ------------------------------------------------------------------------------------------------------


async def totp(db: Database, user_id: int) -> TotpSecret | None:
    """The secret of the account's authenticator app; None without one."""
    return await fetch_row_or_none(
        db,
        TotpSecret,
        "SELECT encrypted, created, confirmed, last_step, extract(epoch FROM clock())::float AS now FROM totp WHERE user_id = %(user)s",
        {"user": user_id},
    )


async def begin_totp(db: Database, user_id: int, encrypted: bytes) -> bool:
    """Stores a secret that is to be confirmed, in place of an unconfirmed one, and whether the e-mail address is proved.

    False when one is confirmed already.
    """
    return (
        await db.execute(
            "INSERT INTO totp (user_id, encrypted, created, address_proved)"
            " SELECT id, %(encrypted)s, clock(), valid_email FROM account WHERE id = %(user)s ON CONFLICT (user_id)"
            " DO UPDATE SET encrypted = excluded.encrypted, created = excluded.created, address_proved = excluded.address_proved,"
            "  last_step = 0 WHERE totp.confirmed IS NULL",
            {"user": user_id, "encrypted": encrypted},
        )
        > 0
    )


async def use_step(db: Database, user_id: int, step: int, *, confirm: bool) -> bool:
    """Uses the code of a time step up; False when this step or a later one was used already.

    ``confirm`` true: only for a secret that waits for its first code, which confirms it; false: only for a confirmed one.
    """
    state = "confirmed IS NULL" if confirm else "confirmed IS NOT NULL"
    return (
        await db.execute(
            f"UPDATE totp SET last_step = %(step)s, confirmed = coalesce(confirmed, clock()) WHERE user_id = %(user)s AND last_step < %(step)s AND {state}",
            {"user": user_id, "step": step},
        )
        > 0
    )


async def drop_totp(db: Database, user_id: int) -> bool:
    """Removes the authenticator app; False when there was none that was confirmed."""
    row = await one_or_none(db, "DELETE FROM totp WHERE user_id = %(user)s RETURNING confirmed", {"user": user_id})
    return row is not None and row["confirmed"] is not None


async def drop_unconfirmed_totp(db: Database, user_id: int) -> None:
    """Removes a secret that waits for its first code: whoever saw it could set up the same app later."""
    await db.execute("DELETE FROM totp WHERE user_id = %(user)s AND confirmed IS NULL", {"user": user_id})


# Recovery codes ----------------------------------------------------------------------------------------------------------


async def replace_codes(tx: Database, user_id: int, hashes: list[bytes]) -> None:
    """Puts these codes in place of all earlier ones, and notes whether the e-mail address is proved."""
    await drop_codes(tx, user_id)
    await tx.execute(
        "INSERT INTO recovery_code (user_id, code_hash, created, address_proved)"
        " SELECT id, unnest(%(hashes)s::bytea[]), clock(), valid_email FROM account WHERE id = %(user)s",
        {"user": user_id, "hashes": hashes},
    )


async def drop_codes(tx: Database, user_id: int) -> None:
    """Removes every code."""
    await tx.execute("DELETE FROM recovery_code WHERE user_id = %(user)s", {"user": user_id})


async def use_code(tx: Database, user_id: int, code_hash: bytes) -> bool:
    """Uses a code up; False when there is no such code (any more)."""
    sql = "DELETE FROM recovery_code WHERE user_id = %(user)s AND code_hash = %(hash)s"
    return await tx.execute(sql, {"user": user_id, "hash": code_hash}) > 0


async def codes_left(db: Database, user_id: int) -> int:
    """How many codes are not used up."""
    return int(
        (await one(db, "SELECT count(*) AS n FROM recovery_code WHERE user_id = %(user)s", {"user": user_id}))["n"]
    )
