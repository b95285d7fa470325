"""Named API tokens: looked up by a keyed hash, listed and revoked by their person."""

from __future__ import annotations

from crowdd.storage.accounts.rows import ApiToken, TokenAccount
from crowdd.storage.database import Database, Prepared, fetch_each, fetch_rows, one

_BY_HASH = Prepared(
    "SELECT a.* FROM unnest(%(hashes)s) WITH ORDINALITY h(hash, nth) LEFT JOIN LATERAL"
    " (SELECT a.id, a.name, a.fullname, a.admin, a.locale, a.access_version, t.id AS token_id, t.scope, t.project_id,"
    "         coalesce(t.last_used < clock() - interval '1 hour', true) AS stale"
    "    FROM api_token t JOIN account a ON a.id = t.user_id"
    '   WHERE t.token_hash = h.hash AND (t.expires IS NULL OR t.expires > clock()) AND NOT a."restrict" OFFSET 0) a ON true'
    " ORDER BY h.nth",
    hashes="bytea[]",
)


async def by_hash(db: Database, hashes: list[bytes]) -> list[TokenAccount | None]:
    """The account of each token that works, in their order, with token_id, scope, project_id and ``stale``."""
    return await fetch_each(db, TokenAccount, _BY_HASH, {"hashes": hashes})


async def note_use(db: Database, token_id: int) -> None:
    """Stores when a token was last used, at most once an hour."""
    await db.execute(
        "UPDATE api_token SET last_used = clock() WHERE id = %(id)s"
        " AND coalesce(last_used < clock() - interval '1 hour', true)",
        {"id": token_id},
    )


async def add(
    tx: Database, user_id: int, token_hash: bytes, name: str, scope: str, project_id: int | None, days: int | None
) -> int:
    """The id of a new token; ``days`` None: it does not expire."""
    row = await one(
        tx,
        "INSERT INTO api_token (user_id, token_hash, name, scope, project_id, created, expires)"
        " VALUES (%(user)s, %(hash)s, %(name)s, %(scope)s, %(project)s, clock(), clock() + make_interval(days => %(days)s)) RETURNING id",
        {"user": user_id, "hash": token_hash, "name": name, "scope": scope, "project": project_id, "days": days},
    )
    return int(row["id"])


async def of_user(db: Database, user_id: int) -> list[ApiToken]:
    """The tokens of an account, the newest first, with the short name of a token's project and ``expired``."""
    return await fetch_rows(
        db,
        ApiToken,
        "SELECT t.id, t.name, t.scope, t.project_id, p.short_name AS project, t.created, t.expires, t.last_used,"
        " coalesce(t.expires <= clock(), false) AS expired"
        " FROM api_token t LEFT JOIN project p ON p.id = t.project_id WHERE t.user_id = %(user)s ORDER BY t.id DESC",
        {"user": user_id},
    )


async def count(tx: Database, user_id: int) -> int:
    """How many tokens an account has."""
    return int((await one(tx, "SELECT count(*) AS n FROM api_token WHERE user_id = %(user)s", {"user": user_id}))["n"])


async def drop(tx: Database, user_id: int, token_id: int) -> bool:
    """Revokes a token of an account; False when it has none of that id."""
    sql = "DELETE FROM api_token WHERE user_id = %(user)s AND id = %(id)s"
    return await tx.execute(sql, {"user": user_id, "id": token_id}) > 0


async def drop_of_user(tx: Database, user_id: int) -> int:
    """Revokes every token of an account; how many there were."""
    return await tx.execute("DELETE FROM api_token WHERE user_id = %(user)s", {"user": user_id})


async def owned_project(db: Database, user_id: int, reference: str) -> int | None:
    """The id of a project that a person owns or co-owns, named by its id or short name; None when there is none."""
    rows = await db.fetch(
        "SELECT id FROM project WHERE (short_name = %(ref)s OR id::text = %(ref)s) AND owners_ids @> ARRAY[%(user)s::bigint]"
        " ORDER BY short_name = %(ref)s DESC LIMIT 1",
        {"ref": reference, "user": user_id},
    )
    return int(rows[0]["id"]) if rows else None
