"""SQL of second factors, passkeys, API tokens, and the connections of accounts with providers and their tokens.

An API token is found by a keyed hash. Tokens of providers are encrypted. The id of a person at a provider is in the
account's row.
"""

from __future__ import annotations

import attrs

from crowdd.database.access import (
    Database,
    Prepared,
    fetch_each,
    fetch_row_or_none,
    fetch_rows,
    one,
    one_or_none,
)
from crowdd.features.accounts.rows import (
    ApiToken,
    KeepableWay,
    NewToken,
    Passkey,
    ProviderToken,
    TokenAccount,
    TotpSecret,
    UsedPasskey,
)


async def has_second_factor(db: Database, user_id: int) -> bool:
    """Whether signing in to the account takes a second factor."""
    return bool(
        (await one(db, "SELECT second_factor FROM account WHERE id = %(user)s", {"user": user_id}))["second_factor"]
    )


async def refresh_second_factor(tx: Database, user_id: int) -> bool:
    """Updates the account's mark after a factor came or went; recovery codes go with the last factor."""
    row = await one(
        tx,
        "UPDATE account SET second_factor = EXISTS (SELECT FROM totp WHERE user_id = %(user)s AND confirmed IS NOT NULL)"
        " OR EXISTS (SELECT FROM passkey WHERE user_id = %(user)s) WHERE id = %(user)s RETURNING second_factor",
        {"user": user_id},
    )
    if not row["second_factor"]:
        await delete_recovery_codes(tx, user_id)
    return bool(row["second_factor"])


async def delete_second_factors(tx: Database, user_id: int) -> int:
    """Removes every factor of an account; the number of authenticator apps and passkeys that were removed."""
    gone = await tx.execute("DELETE FROM totp WHERE user_id = %(user)s", {"user": user_id})
    gone += await tx.execute("DELETE FROM passkey WHERE user_id = %(user)s", {"user": user_id})
    await refresh_second_factor(tx, user_id)
    return gone


# Authenticator apps ------------------------------------------------------------------------------------------------------


async def find_totp(db: Database, user_id: int) -> TotpSecret | None:
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


async def use_totp_step(db: Database, user_id: int, step: int, *, confirm: bool) -> bool:
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


async def delete_totp(db: Database, user_id: int) -> bool:
    """Removes the authenticator app; False when there was none that was confirmed."""
    row = await one_or_none(db, "DELETE FROM totp WHERE user_id = %(user)s RETURNING confirmed", {"user": user_id})
    return row is not None and row["confirmed"] is not None


async def delete_unconfirmed_totp(db: Database, user_id: int) -> None:
    """Removes a secret that waits for its first code: anybody who has seen it could set up the same app later."""
    await db.execute("DELETE FROM totp WHERE user_id = %(user)s AND confirmed IS NULL", {"user": user_id})


# Recovery codes ----------------------------------------------------------------------------------------------------------


async def replace_recovery_codes(tx: Database, user_id: int, hashes: list[bytes]) -> None:
    """Puts these codes in place of all earlier ones, and notes whether the e-mail address is proved."""
    await delete_recovery_codes(tx, user_id)
    await tx.execute(
        "INSERT INTO recovery_code (user_id, code_hash, created, address_proved)"
        " SELECT id, unnest(%(hashes)s::bytea[]), clock(), valid_email FROM account WHERE id = %(user)s",
        {"user": user_id, "hashes": hashes},
    )


async def delete_recovery_codes(tx: Database, user_id: int) -> None:
    """Removes every code."""
    await tx.execute("DELETE FROM recovery_code WHERE user_id = %(user)s", {"user": user_id})


async def use_recovery_code(tx: Database, user_id: int, code_hash: bytes) -> bool:
    """Uses a code up; False when there is no such code (any more)."""
    sql = "DELETE FROM recovery_code WHERE user_id = %(user)s AND code_hash = %(hash)s"
    return await tx.execute(sql, {"user": user_id, "hash": code_hash}) > 0


async def count_recovery_codes(db: Database, user_id: int) -> int:
    """How many codes are not used up."""
    return int(
        (await one(db, "SELECT count(*) AS n FROM recovery_code WHERE user_id = %(user)s", {"user": user_id}))["n"]
    )


_BY_HASH = Prepared(
    "SELECT a.* FROM unnest(%(hashes)s) WITH ORDINALITY h(hash, nth) LEFT JOIN LATERAL"
    " (SELECT a.id, a.name, a.fullname, a.admin, a.locale, a.access_version, t.id AS token_id, t.scope, t.project_id,"
    "         coalesce(t.last_used < clock() - interval '1 hour', true) AS stale"
    "    FROM api_token t JOIN account a ON a.id = t.user_id"
    '   WHERE t.token_hash = h.hash AND (t.expires IS NULL OR t.expires > clock()) AND NOT a."restrict" OFFSET 0) a ON true'
    " ORDER BY h.nth",
    hashes="bytea[]",
)


async def find_tokens_by_hash(db: Database, hashes: list[bytes]) -> list[TokenAccount | None]:
    """The account of each token that works, in their order, with token_id, scope, project_id and ``stale``."""
    return await fetch_each(db, TokenAccount, _BY_HASH, {"hashes": hashes})


async def note_token_use(db: Database, token_id: int) -> None:
    """Stores when a token was last used, at most once an hour."""
    await db.execute(
        "UPDATE api_token SET last_used = clock() WHERE id = %(id)s"
        " AND coalesce(last_used < clock() - interval '1 hour', true)",
        {"id": token_id},
    )


async def insert_token(tx: Database, user_id: int, token_hash: bytes, new: NewToken) -> int:
    """The id of a new token."""
    row = await one(
        tx,
        "INSERT INTO api_token (user_id, token_hash, name, scope, project_id, created, expires)"
        " VALUES (%(user)s, %(hash)s, %(name)s, %(scope)s, %(project_id)s, clock(), clock() + make_interval(days => %(days)s)) RETURNING id",
        {"user": user_id, "hash": token_hash, **attrs.asdict(new)},
    )
    return int(row["id"])


async def list_tokens(db: Database, user_id: int) -> list[ApiToken]:
    """The tokens of an account, the newest first, with the short name of a token's project and ``expired``."""
    return await fetch_rows(
        db,
        ApiToken,
        "SELECT t.id, t.name, t.scope, t.project_id, p.short_name AS project, t.created, t.expires, t.last_used,"
        " coalesce(t.expires <= clock(), false) AS expired"
        " FROM api_token t LEFT JOIN project p ON p.id = t.project_id WHERE t.user_id = %(user)s ORDER BY t.id DESC",
        {"user": user_id},
    )


async def count_tokens(tx: Database, user_id: int) -> int:
    """How many tokens an account has."""
    return int((await one(tx, "SELECT count(*) AS n FROM api_token WHERE user_id = %(user)s", {"user": user_id}))["n"])


async def delete_token(tx: Database, user_id: int, token_id: int) -> bool:
    """Revokes a token of an account; False when it has none of that id."""
    sql = "DELETE FROM api_token WHERE user_id = %(user)s AND id = %(id)s"
    return await tx.execute(sql, {"user": user_id, "id": token_id}) > 0


async def delete_tokens(tx: Database, user_id: int) -> int:
    """Revokes every token of an account; how many there were."""
    return await tx.execute("DELETE FROM api_token WHERE user_id = %(user)s", {"user": user_id})


async def find_owned_project(db: Database, user_id: int, reference: str) -> int | None:
    """The id of a project that a person owns or co-owns, named by its id or short name; None when there is none."""
    rows = await db.fetch(
        "SELECT id FROM project WHERE (short_name = %(ref)s OR id::text = %(ref)s) AND owners_ids @> ARRAY[%(user)s::bigint]"
        " ORDER BY short_name = %(ref)s DESC LIMIT 1",
        {"ref": reference, "user": user_id},
    )
    return int(rows[0]["id"]) if rows else None


_COLUMNS = "id, user_id, credential_id, public_key, sign_count, name, created, last_used, address_proved"


async def list_passkeys(db: Database, user_id: int) -> list[Passkey]:
    """The passkeys of an account, the oldest first."""
    return await fetch_rows(
        db, Passkey, f"SELECT {_COLUMNS} FROM passkey WHERE user_id = %(user)s ORDER BY id", {"user": user_id}
    )


async def find_passkey(db: Database, credential_id: bytes) -> UsedPasskey | None:
    """The passkey with this credential id, with ``blocked`` and ``access_version`` of its account."""
    return await fetch_row_or_none(
        db,
        UsedPasskey,
        f'SELECT {_COLUMNS}, a."restrict" AS blocked, a.access_version FROM passkey p, LATERAL'
        ' (SELECT "restrict", access_version FROM account WHERE id = p.user_id) a WHERE credential_id = %(credential)s',
        {"credential": credential_id},
    )


async def insert_passkey(
    tx: Database, user_id: int, credential_id: bytes, public_key: bytes, sign_count: int, name: str
) -> bool:
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


async def count_passkey_use(tx: Database, passkey_id: int, before: int, after: int) -> bool:
    """Stores the counter of a use; False when another use was stored since ``before`` was read."""
    return (
        await tx.execute(
            "UPDATE passkey SET sign_count = %(after)s, last_used = clock() WHERE id = %(id)s AND sign_count = %(before)s",
            {"id": passkey_id, "before": before, "after": after},
        )
        > 0
    )


async def delete_passkey(tx: Database, user_id: int, passkey_id: int) -> bool:
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


async def connect_provider(tx: Database, user_id: int, provider: str, provider_id: str) -> None:
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


async def disconnect_provider(tx: Database, user_id: int, provider: str) -> None:
    """Ends that, and forgets the token of the person there."""
    await tx.execute(f"UPDATE account SET {provider}_user_id = NULL WHERE id = %(user)s", {"user": user_id})
    for table in ("provider_connection", "provider_token"):
        await tx.execute(
            f"DELETE FROM {table} WHERE user_id = %(user)s AND provider = %(provider)s",
            {"user": user_id, "provider": provider},
        )


async def store_provider_token(db: Database, user_id: int, provider: str, encrypted: bytes) -> None:
    """Stores the latest token of a person at a provider."""
    await db.execute(
        "INSERT INTO provider_token (user_id, provider, encrypted, created) VALUES (%(user)s, %(provider)s, %(encrypted)s, clock())"
        " ON CONFLICT (user_id, provider) DO UPDATE SET encrypted = excluded.encrypted, created = excluded.created",
        {"user": user_id, "provider": provider, "encrypted": encrypted},
    )


async def list_provider_tokens(db: Database, user_id: int) -> list[ProviderToken]:
    """The encrypted tokens of a person."""
    return await fetch_rows(
        db,
        ProviderToken,
        "SELECT provider, encrypted FROM provider_token WHERE user_id = %(user)s ORDER BY provider",
        {"user": user_id},
    )


_KEEPABLE = """
SELECT 'provider' AS kind, p.name AS key, '' AS name, coalesce(c.created, a.created) AS created, NULL::timestamptz AS last_used,
       coalesce(c.address_proved, false) AS address_proved
  FROM account a
 CROSS JOIN LATERAL (VALUES ('google', a.google_user_id), ('github', a.github_user_id), ('orcid', a.orcid_user_id)) p(name, id)
  LEFT JOIN provider_connection c ON c.user_id = a.id AND c.provider = p.name
 WHERE a.id = %(user)s AND p.id IS NOT NULL
UNION ALL
SELECT 'passkey', id::text, name, created, last_used, address_proved FROM passkey WHERE user_id = %(user)s
UNION ALL
SELECT 'authenticator', '', '', created, NULL, address_proved FROM totp WHERE user_id = %(user)s AND confirmed IS NOT NULL
UNION ALL
SELECT 'recovery_codes', '', '', min(created), NULL, bool_and(address_proved)
  FROM recovery_code WHERE user_id = %(user)s HAVING count(*) > 0
 ORDER BY created, kind, key
"""


async def list_keepable_ways(db: Database, user_id: int) -> list[KeepableWay]:
    """The ways into an account that its person may keep when they take it back, the oldest first."""
    return await fetch_rows(db, KeepableWay, _KEEPABLE, {"user": user_id})
